// `explain`: documentation of a kind's fields from the server's OpenAPI document.

import { escapeTerminalControls, escapeTerminalLine } from '@cluster-apiserver/api/base/text/escape-terminal-controls.js'
import { findSchema, type Schema, SchemaTree } from '@cluster-apiserver/client/openapi/schema-tree.js'
import { apiVersionOf } from '@cluster-apiserver/client/requests/resource-ref.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'

export const command = defineCommand({
  usage: 'explain TYPE[.FIELD…] [--recursive] [--api-version=GROUP/VERSION]',
  examples: ['explain pods', 'explain deployment.spec.strategy', 'explain configmap --recursive'],
  flags: {
    recursive: { kind: 'switch', help: 'list all nested fields without descriptions' },
    output: { kind: 'text', initial: 'plaintext', help: 'plaintext' },
    'api-version': { kind: 'text', help: 'API version of the kind: GROUP/VERSION' },
  },
  run: async ({ args, flags, session, io }) => {
    const [typeAndFields, ...extraArgs] = args
    if (typeAndFields === undefined || extraArgs.length > 0)
      throw new UsageError('you must specify the type of resource to explain; "clusterctl api-resources" shows all')
    if (flags.output !== undefined && !['plaintext', 'plaintext-openapiv2'].includes(flags.output))
      throw new UsageError(`unrecognized format: ${flags.output}; supported: plaintext`)
    const { resources } = session
    const [type = '', ...fields] = typeAndFields.split('.')
    const named = await resources.find(type)
    const requestedVersion = flags['api-version']
    const resource = requestedVersion === undefined ? named : await resources.ofKind(requestedVersion, named.kind)
    const apiVersion = apiVersionOf(resource.group, resource.version)
    const document = await session.client.json({ path: `/openapi/v3/${resource.group === '' ? 'api' : 'apis'}/${apiVersion}` })
    const tree = new SchemaTree(document)
    const found = findSchema(tree, resource)
    if (found === undefined)
      throw new CommandError(
        `couldn't find a description of ${resource.kind} in version ${resource.version}${resource.group === '' ? '' : ` of ${resource.group}`}`,
      )
    let schema: Schema = found
    let name = ''
    for (const field of fields) {
      const next = tree.membersOf(schema).get(field)
      if (next === undefined)
        throw new UsageError(`field "${field}" does not exist; fields: ${[...tree.membersOf(schema).keys()].join(', ')}`)
      schema = next
      name = field
    }
    const members = tree.membersOf(schema)
    const text = tree.descriptionsOf(schema).join('\n\n')
    io.out(`KIND:     ${resource.kind}\nVERSION:  ${apiVersion}\n\n`)
    if (name !== '') io.out(`${members.size > 0 ? 'RESOURCE: ' : 'FIELD:    '}${name} <${tree.typeOf(schema)}>\n\n`)
    io.out(`DESCRIPTION:\n${wrap(text === '' ? '<empty>' : text, 5)}\n`)
    if (members.size > 0) io.out(`\nFIELDS:\n${flags.recursive ? nestedFields(tree, schema, 3, new Set()) : summary()}`)
    return 0

    function summary(): string {
      const required = tree.requiredOf(schema)
      return [...members]
        .map(([field, member]) => {
          const note = required.includes(field) ? ' -required-' : ''
          const described = tree.descriptionOf(member)
          return `   ${io.style.bold(escapeTerminalLine(field))}\t<${escapeTerminalLine(tree.typeOf(member))}>${note}\n${described === '' ? '' : `${wrap(described, 5)}\n`}`
        })
        .join('\n')
    }
  },
})

function nestedFields(tree: SchemaTree, schema: Schema, indent: number, ancestors: ReadonlySet<object>): string {
  const inner = tree.resolve(schema)
  if (ancestors.has(inner)) return ''
  return [...tree.membersOf(schema)]
    .map(
      ([field, member]) =>
        `${' '.repeat(indent)}${escapeTerminalLine(field)}\t<${escapeTerminalLine(tree.typeOf(member))}>\n${nestedFields(tree, member, indent + 3, new Set([...ancestors, inner]))}`,
    )
    .join('')
}

const lineWidth = 75

function wrap(text: string, indent: number): string {
  const lines: string[] = []
  for (const paragraph of escapeTerminalControls(text).split('\n')) {
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
