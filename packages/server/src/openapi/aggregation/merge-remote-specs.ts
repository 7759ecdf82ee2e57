// Merges the specs of extension servers into the OpenAPI v2 document; a definition that conflicts is renamed.

import type { RemoteSpec, SpecPart } from '@cluster-apiserver/api/api/catalog/remote-openapi.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { JsonSchema } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import { type DocumentEncoding, joinEntries } from '../documents/document-encoding.js'
import type { UnitBytes } from '../documents/document-unit.js'

const referencePrefix = '#/definitions/'

/** Definitions and paths of this server. */
export interface LocalSpec {
  readonly hasDefinition: (name: string) => boolean
  readonly definitionOf: (name: string) => JsonSchema | undefined
  readonly pathsOf: (group: string, version: string) => ReadonlySet<string>
}

export interface SpecMerge {
  readonly spec: RemoteSpec
  /** New names of conflicting definitions. */
  readonly names: ReadonlyMap<string, string>
  /** Definitions that exist with the same content. */
  readonly identical: ReadonlySet<string>
  /** Paths that this server serves itself. */
  readonly localPaths: ReadonlySet<string>
}

export const readPart = (json: Uint8Array): SpecPart =>
  JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString('utf8')) as SpecPart

export async function planMerge(specs: readonly RemoteSpec[], local: LocalSpec, budget: TurnBudget): Promise<readonly SpecMerge[]> {
  const definitionsByName = new Map<string, () => unknown>()
  const isTaken = (name: string): boolean => definitionsByName.has(name) || local.hasDefinition(name)
  const merges: SpecMerge[] = []
  for (const spec of specs) {
    const names = new Map<string, string>()
    const identical = new Set<string>()
    for (const [name, json] of spec.definitions) {
      if (budget.isSpent) await budget.nextTurn()
      if (isTaken(name)) {
        const other = definitionsByName.get(name)?.() ?? local.definitionOf(name)
        if (other !== undefined && sameValue(other, readPart(json))) identical.add(name)
        else
          names.set(
            name,
            freeName(name, (each) => isTaken(each) || spec.definitions.has(each)),
          )
      }
    }
    for (const [name, json] of spec.definitions) {
      if (!identical.has(name)) definitionsByName.set(names.get(name) ?? name, () => renamed(readPart(json), names))
    }
    merges.push({ spec, names, identical, localPaths: local.pathsOf(spec.group, spec.version) })
  }
  return merges
}

export const mergeKey = ({ names, identical, localPaths }: SpecMerge): string =>
  JSON.stringify([[...names], [...identical], [...localPaths]])

export async function renderSpec(
  { spec, names, identical, localPaths }: SpecMerge,
  encoding: DocumentEncoding,
  budget: TurnBudget,
): Promise<UnitBytes> {
  const paths: Uint8Array[] = []
  for (const [path, json] of spec.paths) {
    if (budget.isSpent) await budget.nextTurn()
    if (!localPaths.has(path)) paths.push(encoding.path(path, renamed(readPart(json), names) as JsonSchema))
  }
  const definitions: Uint8Array[] = []
  for (const [name, json] of spec.definitions) {
    if (budget.isSpent) await budget.nextTurn()
    if (!identical.has(name)) definitions.push(encoding.definition(names.get(name) ?? name, renamed(readPart(json), names) as JsonSchema))
  }
  return { paths: joinEntries(encoding, paths), definitions: joinEntries(encoding, definitions), names: [], shared: new Map() }
}

function freeName(name: string, isTaken: (name: string) => boolean): string {
  let number = 2
  while (isTaken(`${name}_v${number}`)) number++
  return `${name}_v${number}`
}

function renamed(part: unknown, names: ReadonlyMap<string, string>): unknown {
  if (names.size === 0 || typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map((each) => renamed(each, names))
  return Object.fromEntries(
    Object.entries(part).map(([name, each]) => [name, name === '$ref' ? renamedReference(each, names) : renamed(each, names)]),
  )
}

const renamedReference = (reference: unknown, names: ReadonlyMap<string, string>): unknown => {
  const name =
    typeof reference === 'string' && reference.startsWith(referencePrefix) ? names.get(reference.slice(referencePrefix.length)) : undefined
  return name === undefined ? reference : `${referencePrefix}${name}`
}
