"""Models of scikit-learn that mainly compute distances from, and products with, stored samples.

    python -m tests.host.exporters.classic_models FOLDER

writes them as ONNX files, so that `mpconnxr bench` can count their instructions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from skl2onnx import to_onnx
from sklearn import datasets, gaussian_process, mixture, neighbors, svm
from sklearn.gaussian_process import kernels


def samples(kind):
    """Return (x, y) of a data set of scikit-learn.

    digits and wine (measurements of different units) are to be classified; of diabetes (features
    of unit size) and friedman (many samples of ten numbers) a number is to be predicted.
    """
    if kind == "friedman":
        x, y = datasets.make_friedman1(1100, random_state=0)
        return x.astype(np.float32), y
    if kind == "wine":
        x, y = datasets.load_wine(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(x))
        return x[order].astype(np.float32), y[order]
    if kind == "digits":
        x, y = datasets.load_digits(return_X_y=True)
        return (x / 16).astype(np.float32), y
    x, y = datasets.load_diabetes(return_X_y=True)
    return (x * 20).astype(np.float32), y / 100


MODELS = {
    "svc_rbf": ("digits", 600, lambda: svm.SVC()),
    "svc_linear": ("digits", 600, lambda: svm.SVC(kernel="linear")),
    "svc_poly": ("digits", 600, lambda: svm.SVC(kernel="poly")),
    "svc_sigmoid": ("digits", 600, lambda: svm.SVC(kernel="sigmoid", gamma=0.01)),
    "svc_proba": ("digits", 400, lambda: svm.SVC(probability=True, random_state=0)),
    "svr_rbf": ("diabetes", 400, lambda: svm.SVR(gamma=0.05)),
    "svr_linear": ("diabetes", 400, lambda: svm.SVR(kernel="linear")),
    "svr_poly": ("diabetes", 400, lambda: svm.SVR(kernel="poly")),
    "svr_sigmoid": ("diabetes", 400, lambda: svm.SVR(kernel="sigmoid", gamma=0.01)),
    "one_class": ("digits", 400, lambda: svm.OneClassSVM(nu=0.6)),
    "knn_classifier": ("digits", 400, lambda: neighbors.KNeighborsClassifier(3)),
    "knn_regressor": ("digits", 400, lambda: neighbors.KNeighborsRegressor(3)),
    "gaussian_process": (
        "diabetes",
        300,
        lambda: gaussian_process.GaussianProcessRegressor(
            kernels.RBF(2.0), alpha=0.1, optimizer=None
        ),
    ),
    "mixture_full": ("digits", 1000, lambda: mixture.GaussianMixture(10, reg_covar=1e-3)),
    "mixture_diag": (
        "digits",
        1000,
        lambda: mixture.GaussianMixture(10, covariance_type="diag", reg_covar=1e-3),
    ),
    "mixture_wine": ("wine", 150, lambda: mixture.GaussianMixture(3, covariance_type="diag")),
    "svc_wine": ("wine", 150, lambda: svm.SVC()),
    "svc_poly_wine": ("wine", 150, lambda: svm.SVC(kernel="poly")),
    "knn_wine": ("wine", 150, lambda: neighbors.KNeighborsRegressor(5)),
    "svr_many": ("friedman", 1080, lambda: svm.SVR(gamma=1.0, epsilon=0.01)),
    "gaussian_process_many": (
        "friedman",
        1000,
        lambda: gaussian_process.GaussianProcessRegressor(
            kernels.RBF(1.0), alpha=0.1, optimizer=None
        ),
    ),
}


def trained(name):
    """Return (the ONNX model, samples that it was not trained on)."""
    kind, n, make = MODELS[name]
    x, y = samples(kind)
    estimator = make()
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    estimator.fit(x[:n], y[:n])
    classifies = hasattr(estimator, "classes_")
    options = {"zipmap": False} if classifies else None
    return to_onnx(estimator, x[:1], options=options), x[n:]


def main(folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        model, _ = trained(name)
        (Path(folder) / f"{name}.onnx").write_bytes(model.SerializeToString())
        print(name)


if __name__ == "__main__":
    main(sys.argv[1])
