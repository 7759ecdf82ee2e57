// The document of version 2 with what other servers have said of their types and paths put behind our own. A definition of theirs that has the
// name of one of ours and says something else gets another name.

import type { RemoteSpec, SpecPart } from '../../api/remote-openapi.js'
import { sameValue } from '../../api/validation/same-value.js'
import type { JsonSchema } from '../../schema/openapi.js'
import type { DocumentParts } from './rendering.js'

const root = '#/definitions/'

export function mergeRemote(own: DocumentParts, specs: readonly RemoteSpec[]): DocumentParts {
  if (specs.length === 0) return own
  let tail: JsonSchema | undefined
  return {
    head: own.head,
    paths: function* () {
      const known = new Set<string>()
      for (const rendered of own.paths()) {
        if (rendered !== undefined) known.add(rendered[0])
        yield rendered
      }
      const rest = own.tail()
      const definitions = new Map(Object.entries(rest['definitions'] as { readonly [name: string]: SpecPart }))
      for (const spec of specs) {
        const names = yield* place(spec, definitions)
        for (const [path, item] of spec.paths) {
          // What we say of a path counts.
          if (!known.has(path)) yield [path, renamed(item, names) as JsonSchema]
          known.add(path)
        }
      }
      tail = { ...rest, definitions: Object.fromEntries(definitions) }
    },
    tail: () => tail ?? own.tail(),
  }
}

/** Adds the definitions of a server to all that there are, and gives the new names of those that have one. */
function* place(spec: RemoteSpec, definitions: Map<string, SpecPart>): Generator<undefined, ReadonlyMap<string, string>, void> {
  const names = new Map<string, string>()
  for (const [name, definition] of spec.definitions) {
    const known = definitions.get(name)
    if (known !== undefined && !sameValue(known, definition)) names.set(name, freeName(name, definitions))
    yield
  }
  for (const [name, definition] of spec.definitions) {
    const placed = names.get(name) ?? name
    if (!definitions.has(placed)) definitions.set(placed, renamed(definition, names) as SpecPart)
    yield
  }
  return names
}

function freeName(name: string, definitions: ReadonlyMap<string, unknown>): string {
  let number = 2
  while (definitions.has(`${name}_v${number}`)) number++
  return `${name}_v${number}`
}

/** The same value where nothing in it has another name. */
function renamed(part: unknown, names: ReadonlyMap<string, string>): unknown {
  if (names.size === 0 || typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map((each) => renamed(each, names))
  return Object.fromEntries(
    Object.entries(part).map(([name, each]) => [name, name === '$ref' ? renamedReference(each, names) : renamed(each, names)]),
  )
}

const renamedReference = (reference: unknown, names: ReadonlyMap<string, string>): unknown => {
  const name = typeof reference === 'string' && reference.startsWith(root) ? names.get(reference.slice(root.length)) : undefined
  return name === undefined ? reference : `${root}${name}`
}
