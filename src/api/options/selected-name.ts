// The one object that a list or watch asks for by a selector: rights, audit and flow control treat it as if the path named it.

import { parseFieldSelector } from '../field-selector.js'
import type { RequestInfo } from '../request-info.js'
import { scanQuery } from './query.js'

/** The name in the path or, for lists and watches, in the field selector; empty where there is none. */
export function selectedName({ name, verb, query }: Pick<RequestInfo, 'name' | 'verb' | 'query'>): string {
  if (name !== '' || (verb !== 'list' && verb !== 'watch') || !query.includes('fieldSelector')) return name
  try {
    const asked = parseFieldSelector(scanQuery(query).first('fieldSelector') ?? '').exactValue('metadata.name') ?? ''
    return asked === '.' || asked === '..' || /[/%]/.test(asked) ? '' : asked
  } catch {
    return '' // what cannot be read selects nothing, and is refused by whoever lists
  }
}
