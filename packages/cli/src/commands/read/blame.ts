// `blame`: shows the field managers of each field of an object.

import { listManagedFields } from '@cluster-apiserver/client/objects/field-managers.js'
import { defineCommand } from '../../command-line/command.js'
import { resolveOne } from '../../objects/object-arguments.js'
import { alignRows, headerRow } from '../../output/columns.js'
import { jsonText } from '../../output/documents.js'
import { textOf } from '../../output/json-path.js'

const maxValueLength = 40

export const command = defineCommand({
  usage: 'blame TYPE NAME [flags]',
  examples: ['blame deployment shop', 'blame configmap/prices --manager kubectl', 'blame configmap/prices -o json'],
  flags: {
    manager: { kind: 'text', help: 'only fields of this field manager' },
    output: { kind: 'text', short: 'o', help: 'json' },
    'no-headers': { kind: 'switch', help: 'omit the header' },
  },
  run: async ({ args, flags, session, io }) => {
    const { collection, name } = await resolveOne(args, { session })
    const object = await collection.get(name)
    const fields = listManagedFields(object).filter(
      ({ owners }) => flags.manager === undefined || owners.some(({ manager }) => manager === flags.manager),
    )
    if (flags.output === 'json') {
      io.out(jsonText(fields.map(({ path, value, owners }) => ({ path, value, owners }))))
      return 0
    }
    const rows = fields.flatMap(({ path, value, owners }) =>
      owners.map(({ manager, operation, subresource, since }, i) => [
        i === 0 ? path : '',
        i === 0 ? valueText(value) : '',
        { text: manager, paint: io.style.cyan },
        `${operation}${subresource === '' ? '' : ` (${subresource})`}`,
        { text: since === '' ? '<unknown>' : since, paint: io.style.dim },
      ]),
    )
    if (rows.length === 0) io.err('the object has no managed fields\n')
    else io.out(alignRows([...(flags['no-headers'] ? [] : [headerRow(['FIELD', 'VALUE', 'OWNER', 'BY', 'SINCE'], io.style)]), ...rows]))
    return 0
  },
})

function valueText(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[…]' : '{…}'
  const text = textOf(value).replaceAll('\n', '\\n')
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength - 1)}…` : text
}
