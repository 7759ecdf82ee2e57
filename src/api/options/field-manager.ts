// The name under which a writer owns fields: as given in the query, or else taken from the user agent.

import { canBePrinted } from '../../base/can-be-printed.js'
import { byteLength } from '../validation/byte-length.js'

const maxBytes = 128

/** Without a name, the program's: what stands before the first slash of the user agent, as much of it as may stand in a name. */
export function fieldManagerOr(manager: string | undefined, userAgent: string | undefined): string {
  if (manager !== undefined && manager !== '') return manager
  const [program = ''] = (userAgent ?? '').split('/', 1)
  let name = ''
  let bytes = 0
  for (const character of program) {
    if (!canBePrinted(character)) continue
    bytes += byteLength(character)
    if (bytes > maxBytes) break
    name += character
  }
  return name
}
