// Shows what the fields of a kind mean, as the server describes them.

import { printable, printableLine } from '../../base/printable.js'
import { apiVersionOf } from '../../client/resource-ref.js'
import { defineCommand } from '../command.js'
import { UsageError } from '../flags.js'
import { findSchema, type Schema, SchemaTree } from '../schema-tree.js'

export const command = defineCommand({
  usage: 'explain TYPE[.FIELD…] [--recursive] [--api-version=GROUP/VERSION]',
  about: 'show what the fields of a kind mean',
  examples: ['explain pods', 'explain deployment.spec.strategy', 'explain configmap --recursive'],
  flags: {
    recursive: { kind: 'switch', help: 'all fields below, without their descriptions' },
    output: { kind: 'text', initial: 'plaintext', help: 'plaintext' },
    'api-version': { kind: 'text', help: 'of this version' },
  },
  run: async ({ args, flags, session, io }) => {
    const [word, ...more] = args
    if (word === undefined || more.length > 0)
      throw new UsageError('you must specify the type of resource to explain; "clusterctl api-resources" shows all')
    if (flags.output !== undefined && !['plaintext', 'plaintext-openapiv2'].includes(flags.output))
      throw new UsageError(`unrecognized format: ${flags.output}; there is plaintext`)
    const { resources } = session
    const [type = '', ...fields] = word.split('.')
    const found = await resources.find(type)
    const wanted = flags['api-version']
    const resource = wanted === undefined ? found : await resources.ofKind(wanted, found.kind)
    const apiVersion = apiVersionOf(resource.group, resource.version)
    const document = await session.client.json({ path: `/openapi/v3/${resource.group === '' ? 'api' : 'apis'}/${apiVersion}` })
    const tree = new SchemaTree(document)
    let schema: Schema = findSchema(tree, resource)
    let name = ''
    for (const field of fields) {
      const next = tree.membersOf(schema).get(field)
      if (next === undefined)
        throw new UsageError(`field "${field}" does not exist; there are ${[...tree.membersOf(schema).keys()].join(', ')}`)
      schema = next
      name = field
    }
    const members = tree.membersOf(schema)
    const text = tree.descriptionsOf(schema).join('\n\n')
    io.out(`KIND:     ${resource.kind}\nVERSION:  ${apiVersion}\n\n`)
    if (name !== '') io.out(`${members.size > 0 ? 'RESOURCE: ' : 'FIELD:    '}${name} <${tree.typeOf(schema)}>\n\n`)
    io.out(`DESCRIPTION:\n${wrap(text === '' ? '<empty>' : text, 5)}\n`)
    if (members.size > 0) io.out(`\nFIELDS:\n${flags.recursive ? recursive(tree, schema, 3, new Set()) : shortly()}`)
    return 0

    function shortly(): string {
      const required = tree.requiredOf(schema)
      return [...members]
        .map(([field, member]) => {
          const note = required.includes(field) ? ' -required-' : ''
          const described = tree.descriptionOf(member)
          return `   ${io.style.bold(printableLine(field))}\t<${printableLine(tree.typeOf(member))}>${note}\n${described === '' ? '' : `${wrap(described, 5)}\n`}`
        })
        .join('\n')
    }
  },
})

function recursive(tree: SchemaTree, schema: Schema, indent: number, above: ReadonlySet<object>): string {
  const inner = tree.resolve(schema)
  if (above.has(inner)) return ''
  return [...tree.membersOf(schema)]
    .map(
      ([field, member]) =>
        `${' '.repeat(indent)}${printableLine(field)}\t<${printableLine(tree.typeOf(member))}>\n${recursive(tree, member, indent + 3, new Set([...above, inner]))}`,
    )
    .join('')
}

const lineWidth = 75

function wrap(text: string, indent: number): string {
  const lines: string[] = []
  for (const paragraph of printable(text).split('\n')) {
    let line = ''
    for (const word of paragraph.split(' ')) {
      if (line !== '' && line.length + 1 + word.length > lineWidth) {
        lines.push(line)
        line = word
      } else line = line === '' ? word : `${line} ${word}`
    }
    lines.push(line)
  }
  return lines.map((line) => (line === '' ? '' : `${' '.repeat(indent)}${line}`)).join('\n')
}
