"""Small estimators and pipelines of scikit-learn, to be exported by skl2onnx."""

import warnings

import numpy as np
from sklearn import (
    calibration,
    cluster,
    cross_decomposition,
    datasets,
    decomposition,
    discriminant_analysis,
    ensemble,
    feature_selection,
    gaussian_process,
    impute,
    linear_model,
    mixture,
    multiclass,
    multioutput,
    naive_bayes,
    neighbors,
    neural_network,
    preprocessing,
    random_projection,
    svm,
    tree,
)
from sklearn.pipeline import make_pipeline, make_union

_PAIR = [("a", naive_bayes.GaussianNB()), ("b", tree.DecisionTreeClassifier(random_state=0))]
_RIDGE = [("a", linear_model.Ridge()), ("b", tree.DecisionTreeRegressor(max_depth=3))]


def _logistic():
    return linear_model.LogisticRegression(max_iter=20)


def _scaled(*steps):
    return make_pipeline(*steps, svm.SVC(random_state=0))


CLASSIFIERS = [
    _logistic(),
    calibration.CalibratedClassifierCV(svm.LinearSVC(random_state=0), cv=2),
    discriminant_analysis.LinearDiscriminantAnalysis(),
    discriminant_analysis.QuadraticDiscriminantAnalysis(),
    ensemble.AdaBoostClassifier(n_estimators=4, random_state=0),
    ensemble.BaggingClassifier(_logistic(), n_estimators=3, random_state=0),
    ensemble.ExtraTreesClassifier(4, random_state=0),
    ensemble.RandomForestClassifier(4, random_state=0),
    ensemble.StackingClassifier(_PAIR),
    ensemble.VotingClassifier(_PAIR, voting="soft", flatten_transform=False),
    linear_model.Perceptron(),
    linear_model.RidgeClassifier(),
    linear_model.SGDClassifier(loss="log_loss", random_state=0),
    make_pipeline(feature_selection.SelectKBest(k=4), _logistic()),
    make_pipeline(
        preprocessing.KBinsDiscretizer(
            3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"
        ),
        _logistic(),
    ),
    make_pipeline(
        preprocessing.PolynomialFeatures(2), preprocessing.StandardScaler(), _logistic()
    ),
    multiclass.OneVsOneClassifier(_logistic()),
    multiclass.OneVsRestClassifier(_logistic()),
    naive_bayes.BernoulliNB(),
    naive_bayes.ComplementNB(),
    naive_bayes.GaussianNB(),
    naive_bayes.MultinomialNB(),
    neighbors.KNeighborsClassifier(3),
    neural_network.MLPClassifier((6,), max_iter=20, random_state=0),
    svm.LinearSVC(random_state=0),
    svm.NuSVC(probability=True, random_state=0),
    svm.SVC(probability=True, random_state=0),
    tree.DecisionTreeClassifier(random_state=0),
    _scaled(preprocessing.Binarizer()),
    _scaled(preprocessing.MaxAbsScaler()),
    _scaled(preprocessing.MinMaxScaler()),
    _scaled(preprocessing.Normalizer()),
    _scaled(preprocessing.PowerTransformer()),
    _scaled(preprocessing.QuantileTransformer(n_quantiles=20)),
    _scaled(preprocessing.RobustScaler()),
    _scaled(make_union(decomposition.PCA(2), preprocessing.StandardScaler())),
]
REGRESSORS = [
    cross_decomposition.PLSRegression(2),
    ensemble.AdaBoostRegressor(n_estimators=3, random_state=0),
    ensemble.BaggingRegressor(n_estimators=3, random_state=0),
    ensemble.ExtraTreesRegressor(3, random_state=0),
    ensemble.RandomForestRegressor(3, random_state=0),
    ensemble.StackingRegressor(_RIDGE),
    ensemble.VotingRegressor(_RIDGE),
    gaussian_process.GaussianProcessRegressor(),
    linear_model.ARDRegression(),
    linear_model.BayesianRidge(),
    linear_model.ElasticNet(),
    linear_model.GammaRegressor(),
    linear_model.HuberRegressor(),
    linear_model.Lars(),
    linear_model.LinearRegression(),
    linear_model.OrthogonalMatchingPursuit(),
    linear_model.PoissonRegressor(),
    linear_model.QuantileRegressor(),
    linear_model.RANSACRegressor(random_state=0),
    linear_model.SGDRegressor(random_state=0),
    linear_model.TheilSenRegressor(random_state=0),
    linear_model.TweedieRegressor(),
    multioutput.MultiOutputRegressor(linear_model.Ridge()),
    neighbors.KNeighborsRegressor(3),
    neighbors.RadiusNeighborsRegressor(3),
    neural_network.MLPRegressor(hidden_layer_sizes=(6,), max_iter=20, random_state=0),
    svm.LinearSVR(random_state=0),
    svm.NuSVR(),
    svm.SVR(),
    tree.DecisionTreeRegressor(max_depth=5, random_state=0),
]
OTHERS = [
    cluster.KMeans(3, random_state=0),
    cluster.MiniBatchKMeans(3, random_state=0),
    decomposition.IncrementalPCA(2),
    decomposition.KernelPCA(2),
    decomposition.PCA(2),
    decomposition.TruncatedSVD(2, random_state=0),
    ensemble.IsolationForest(n_estimators=5, random_state=0),
    feature_selection.VarianceThreshold(),
    mixture.BayesianGaussianMixture(n_components=2, random_state=0),
    mixture.GaussianMixture(2, random_state=0),
    neighbors.LocalOutlierFactor(novelty=True),
    preprocessing.FunctionTransformer(),
    preprocessing.OneHotEncoder(),
    preprocessing.OneHotEncoder(handle_unknown="ignore"),
    preprocessing.OrdinalEncoder(),
    random_projection.GaussianRandomProjection(3, random_state=0),
    impute.SimpleImputer(),
    svm.OneClassSVM(),
]


# skl2onnx ends in an error of its own for these in float64.
SINGLE_ONLY = ("IsolationForest", "LinearSVC", "PowerTransformer", "RidgeClassifier")


def named():
    """Return {name: estimator}, the names being shortened reprs."""
    result = {}
    for estimator in CLASSIFIERS + REGRESSORS + OTHERS:
        name = " ".join(str(estimator).split())[:60]
        result[name if name not in result else f"{name} {len(result)}"] = estimator
    return result


def fitted(estimator, dtype):
    """Return (the estimator, samples (n, features)), trained on wines or diabetes."""
    rng = np.random.default_rng(0)
    if any(estimator is r for r in REGRESSORS):
        x, y = datasets.load_diabetes(return_X_y=True)
        y = np.abs(y) + 1
    else:
        x, y = datasets.load_wine(return_X_y=True)
        x = np.abs(x)
    x = x.astype(np.float32).astype(dtype)
    if "Encoder" in str(estimator):
        x = np.round(x[:, :3])
    if "Imputer" in str(estimator):
        x[::7, 2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(x, np.stack([y, y], 1) if "MultiOutput" in str(estimator) else y)
    return estimator, x[rng.permutation(len(x))]
