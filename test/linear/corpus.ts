// Every shape that was thought of or found.

import { jsonShapes, protobufShapes } from './body-shapes.js'
import { documentShapes } from './document-shapes.js'
import { compiledShapes, expressionShapes, writtenShapes } from './expression-shapes.js'
import { formatShapes } from './format-shapes.js'
import { headerShapes } from './header-shapes.js'
import { keptShapes } from './kept-shapes.js'
import { patchShapes } from './patch-shapes.js'
import type { Shape } from './shape.js'
import { yamlShapes } from './yaml-shapes.js'

export const corpus: readonly Shape[] = [
  ...headerShapes,
  ...jsonShapes,
  ...yamlShapes,
  ...protobufShapes,
  ...patchShapes,
  ...keptShapes,
  ...documentShapes,
  ...expressionShapes,
  ...writtenShapes,
  ...compiledShapes,
  ...formatShapes,
]
