// Maps of texts that are written in JSON as they are. Whoever reads a long body finds out at once whether anything in it needs an escape;
// to ask that of each text again when it is stored takes a sixth of an update of 50 KB.

import { isLoose, type MapNode } from './node.js'

/** Whether all values of such maps are texts. */
export const isOfTexts = ({ value }: MapNode): boolean => value.type === 'string' && !isLoose(value)

const plainMaps = new WeakSet<object>()

/** Neither keys nor texts of it need an escape. Nobody changes a map that was read; from now on nobody can, for that would be stored as it is. */
export const markPlain = (map: object): void => void plainMaps.add(Object.freeze(map))

export const isMarkedPlain = (map: object): boolean => plainMaps.has(map)
