// All shapes (builders of inputs of any size, to test that work is linear): written by hand, and regressions of random ones.

import { aggregationShapes } from './aggregation-shapes.js'
import { jsonShapes, protobufShapes } from './body-shapes.js'
import { celShapes, compiledShapes, writtenShapes } from './cel-shapes.js'
import { formatShapes } from './format-shapes.js'
import { headerShapes } from './header-shapes.js'
import { patchShapes } from './patch-shapes.js'
import { regressionShapes } from './regression-shapes.js'
import type { Shape } from './shape.js'
import { yamlShapes } from './yaml-shapes.js'

export const corpus: readonly Shape[] = [
  ...headerShapes,
  ...jsonShapes,
  ...yamlShapes,
  ...protobufShapes,
  ...patchShapes,
  ...regressionShapes,
  ...aggregationShapes,
  ...celShapes,
  ...writtenShapes,
  ...compiledShapes,
  ...formatShapes,
]
