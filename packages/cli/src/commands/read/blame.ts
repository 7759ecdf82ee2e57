// Who owns each field of an object, and since when.

import { ownedFields } from '../blame/owners.js'
import { defineCommand } from '../command.js'
import { alignRows, headerRow } from '../output/columns.js'
import { jsonText } from '../output/documents.js'
import { textOf } from '../output/json-path.js'
import { oneNamed } from '../targets.js'

const longestValue = 40

export const command = defineCommand({
  usage: 'blame TYPE NAME [flags]',
  about: 'show who owns each field of an object, and since when',
  examples: ['blame deployment shop', 'blame configmap/prices --manager kubectl', 'blame configmap/prices -o json'],
  flags: {
    manager: { kind: 'text', help: 'only fields of this owner' },
    output: { kind: 'text', short: 'o', help: 'json' },
    'no-headers': { kind: 'switch', help: 'no line with the names of columns' },
  },
  run: async ({ args, flags, session, io }) => {
    const { collection, name } = await oneNamed(args, { session })
    const object = await collection.get(name)
    const fields = ownedFields(object).filter(
      ({ owners }) => flags.manager === undefined || owners.some(({ manager }) => manager === flags.manager),
    )
    if (flags.output === 'json') {
      io.out(jsonText(fields))
      return 0
    }
    const rows = fields.flatMap(({ path, value, owners }) =>
      owners.map(({ manager, operation, subresource, since }, i) => [
        i === 0 ? path : '',
        i === 0 ? shown(value) : '',
        { text: manager, paint: io.style.cyan },
        `${operation}${subresource === '' ? '' : ` (${subresource})`}`,
        { text: since === '' ? '<unknown>' : since, paint: io.style.dim },
      ]),
    )
    if (rows.length === 0) io.err('nobody owns anything: the object has no managed fields\n')
    else io.out(alignRows([...(flags['no-headers'] ? [] : [headerRow(['FIELD', 'VALUE', 'OWNER', 'BY', 'SINCE'], io.style)]), ...rows]))
    return 0
  },
})

function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[…]' : '{…}'
  const text = textOf(value).replaceAll('\n', '\\n')
  return text.length > longestValue ? `${text.slice(0, longestValue - 1)}…` : text
}
