// What a server behind an API service says of its types and paths, out of its whole OpenAPI document: the paths of one version, and the
// definitions that these need. In short steps and within bounds, however large the document is.

import type { RemoteSpec } from '../../api/remote-openapi.js'
import { type Slices, sliceMembers } from '../../codec/json-slices.js'
import { cleanDefinition, cleanPathItem, definitionsIn } from './clean-spec.js'

const wanted: ReadonlySet<string> = new Set(['paths', 'definitions', 'parameters'])

export const specLimits = {
  /** Of the document. */
  bytes: 16 << 20,
  depth: 100,
  /** Of one path or definition, and of all that is kept. */
  partBytes: 512 << 10,
  keptBytes: 8 << 20,
}

/** Throws one sentence for what is no such document, or goes beyond the bounds. */
export function* readSpec(
  { name, group, version }: Pick<RemoteSpec, 'name' | 'group' | 'version'>,
  document: Buffer,
): Generator<undefined, RemoteSpec, void> {
  const slices = yield* sliceMembers(document, wanted, specLimits)
  const parts = new Parts(slices)
  const parameterOf = (parameter: string): unknown => parts.read('parameters', parameter)
  const prefix = `/apis/${group}/${version}/`
  const paths = new Map<string, Uint8Array>()
  const needed = new Set<string>()
  for (const path of slices.get('paths')?.keys() ?? []) {
    if (path !== prefix.slice(0, -1) && !path.startsWith(prefix)) continue
    const item = cleanPathItem(parts.read('paths', path), parameterOf)
    if (item === undefined) throw new Error(`the path ${path} is no object`)
    paths.set(path, Buffer.from(JSON.stringify(item)))
    for (const each of definitionsIn(item)) needed.add(each)
    yield
  }
  const definitions = new Map<string, Uint8Array>()
  // What definitions need is added to the end of the set while it is walked.
  for (const each of needed) {
    const definition = cleanDefinition(parts.read('definitions', each))
    definitions.set(each, Buffer.from(JSON.stringify(definition ?? { type: 'object' })))
    for (const other of definitionsIn(definition)) needed.add(other)
    yield
  }
  return { name, group, version, paths, definitions }
}

class Parts {
  private readonly slices: ReadonlyMap<string, Slices>
  private keptBytes = 0

  constructor(slices: ReadonlyMap<string, Slices>) {
    this.slices = slices
  }

  /** Undefined where it is not there. */
  read(member: string, name: string): unknown {
    const bytes = this.slices.get(member)?.get(name)
    if (bytes === undefined) return undefined
    this.keptBytes += bytes.length
    if (bytes.length > specLimits.partBytes || this.keptBytes > specLimits.keptBytes) throw new Error('the document says too much')
    return JSON.parse(bytes.toString())
  }
}
