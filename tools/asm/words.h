// Names for words that lie one behind another: \first, \first + 4 and so on.
.macro words first, names:vararg
    .set words.at, \first
    .irp name, \names
    .set \name, words.at
    .set words.at, words.at + 4
    .endr
.endm
