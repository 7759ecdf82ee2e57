// What other servers have said of their types and paths, behind what the document of version 2 says of our own. A definition of theirs that has
// the name of another one and says something else gets another name.

import type { RemoteSpec, SpecPart } from '../../api/remote-openapi.js'
import { sameValue } from '../../api/validation/same-value.js'
import type { JsonSchema } from '../../schema/openapi.js'
import { type DocumentForm, Entries } from './document-form.js'
import type { UnitBytes } from './unit.js'

const root = '#/definitions/'

/** What our own document says. */
export interface OwnWords {
  readonly hasDefinition: (name: string) => boolean
  /** Undefined where it is of no use to anybody else. */
  readonly definitionOf: (name: string) => JsonSchema | undefined
  /** The paths of a group version. */
  readonly pathsOf: (group: string, version: string) => ReadonlySet<string>
}

/** How what a server said is taken up. */
export interface Placement {
  readonly spec: RemoteSpec
  /** New names of definitions. */
  readonly names: ReadonlyMap<string, string>
  /** Definitions that are there already. */
  readonly known: ReadonlySet<string>
  /** What we say of a path counts. */
  readonly ownPaths: ReadonlySet<string>
}

export const readPart = (json: Uint8Array): SpecPart =>
  JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString('utf8')) as SpecPart

/** One after the other, in short steps. */
export function* placeSpecs(specs: readonly RemoteSpec[], own: OwnWords): Generator<undefined, readonly Placement[], void> {
  const taken = new Map<string, () => unknown>()
  const isTaken = (name: string): boolean => taken.has(name) || own.hasDefinition(name)
  const placements: Placement[] = []
  for (const spec of specs) {
    const names = new Map<string, string>()
    const known = new Set<string>()
    for (const [name, json] of spec.definitions) {
      if (isTaken(name)) {
        const other = taken.get(name)?.() ?? own.definitionOf(name)
        if (other !== undefined && sameValue(other, readPart(json))) known.add(name)
        else
          names.set(
            name,
            freeName(name, (each) => isTaken(each) || spec.definitions.has(each)),
          )
      }
      yield
    }
    for (const [name, json] of spec.definitions) {
      if (!known.has(name)) taken.set(names.get(name) ?? name, () => renamed(readPart(json), names))
    }
    placements.push({ spec, names, known, ownPaths: own.pathsOf(spec.group, spec.version) })
    yield
  }
  return placements
}

/** The same text for what is rendered in the same way. */
export const placementKey = ({ names, known, ownPaths }: Placement): string => JSON.stringify([[...names], [...known], [...ownPaths]])

export function* renderSpec({ spec, names, known, ownPaths }: Placement, form: DocumentForm): Generator<undefined, UnitBytes, void> {
  const paths = new Entries(form)
  for (const [path, json] of spec.paths) {
    if (!ownPaths.has(path)) paths.add(yield* form.path(path, renamed(readPart(json), names) as JsonSchema))
    yield
  }
  const definitions = new Entries(form)
  for (const [name, json] of spec.definitions) {
    if (!known.has(name)) definitions.add(yield* form.definition(names.get(name) ?? name, renamed(readPart(json), names) as JsonSchema))
    yield
  }
  return { paths: yield* paths.joined(), definitions: yield* definitions.joined(), names: [], shared: new Map() }
}

function freeName(name: string, isTaken: (name: string) => boolean): string {
  let number = 2
  while (isTaken(`${name}_v${number}`)) number++
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
