"""This project's own kernels on a real GPU, against the interpreter.

    python -m benchmarks.hardware prepare FOLDER           inputs, cubins, manifest; needs torch and tileiras
    python FOLDER/launch.py FOLDER RESULTS                 on the machine with the GPU; needs numpy alone
    python -m benchmarks.hardware compare RESULTS          the interpreter runs the same launches
    python -m benchmarks.hardware record RESULTS FILE      keeps a few elements of each, for the tests
    python -m benchmarks.hardware result NAME RESULTS FILE --level0 RESULTS0 --device D --assembler V
                                                           one launch for `classify --gpu-result`

`launch.py` loads each cubin through the driver: no front end's host layer takes part.
"""
