// Random shapes (inputs of growing size) on which a parser once was not linear; `npm run linear` prints the lines to add.

import { type Recipe, shapeOf } from './random-shapes.js'
import type { Shape } from './shape.js'

const recipes: readonly Recipe[] = []

export const regressionShapes: readonly Shape[] = recipes.map(shapeOf)
