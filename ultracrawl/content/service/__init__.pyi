from .process import ConversionProcess as ConversionProcess
