// Applies the initial objects of an embedded server; namespaces and CRDs first.

import { readFileSync, statSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { readDocuments } from '@cluster-apiserver/api/codec/yaml/read-documents.js'
import { internalCall } from '../../controllers/framework/internal-call.js'
import { listManifests } from '../../options/files/manifest-files.js'
import type { FirstObject, ObjectValue } from '../../options/server-options.js'
import { StartupError } from '../../options/startup-error.js'
import { patch } from '../../verbs/patch.js'
import type { EmbeddingParts } from './assembled-server.js'
import { waitUntilIdle } from './until-idle.js'

const fieldManager = 'start'
/** Maximum time to wait until the kind of a CRD is served. */
const crdTimeoutMs = 5000

export async function applyObjects(parts: EmbeddingParts, objects: readonly ObjectWithOrigin[]): Promise<void> {
  const rank = ({ object: { kind } }: ObjectWithOrigin): number => {
    const index = ['Namespace', 'CustomResourceDefinition'].indexOf(kind)
    return index < 0 ? 2 : index
  }
  for (const object of objects.toSorted((a, b) => rank(a) - rank(b))) {
    try {
      await apply(parts, object)
    } catch (thrown) {
      if (thrown instanceof StartupError) throw thrown
      throw new StartupError(`objects: ${object.origin}: ${errorMessage(thrown)}`)
    }
  }
  await waitUntilIdle(parts)
}

async function apply(parts: EmbeddingParts, { object, origin }: ObjectWithOrigin): Promise<void> {
  const { engine } = parts
  const metadata = (object['metadata'] ?? {}) as { readonly [member: string]: unknown }
  const { name, namespace } = metadata
  if (typeof name !== 'string' || name === '') throw new StartupError(`objects: ${origin}: it has no metadata.name`)
  const resource = await findKind(parts, { object, origin })
  // Drops the fields that a server sets.
  const {
    managedFields: _m,
    resourceVersion: _r,
    uid: _u,
    creationTimestamp: _c,
    selfLink: _s,
    generation: _g,
    ...clientMetadata
  } = metadata
  const target = {
    resource,
    name,
    namespace: resource.namespaced ? (typeof namespace === 'string' && namespace !== '' ? namespace : 'default') : '',
    options: { fieldManager, force: true, fieldValidation: 'Strict' as const },
  }
  const { status, ...rest } = object
  await patch(engine, internalCall(engine, target), { type: 'apply', patch: { ...rest, metadata: clientMetadata }, duplicates: [] })
  if (status === undefined || resource.subresources.get('status') === undefined) return
  const { apiVersion, kind } = object
  await patch(engine, internalCall(engine, { ...target, subresource: 'status' }), {
    type: 'apply',
    patch: { apiVersion, kind, metadata: { name, ...(resource.namespaced ? { namespace: target.namespace } : {}) }, status },
    duplicates: [],
  })
}

/** Waits for kinds of CRDs, which are served once their names are accepted. */
async function findKind({ catalogs }: EmbeddingParts, { object: { apiVersion, kind }, origin }: ObjectWithOrigin): Promise<Resource> {
  const find = (): Resource | undefined =>
    catalogs.current.all().find((resource) => resource.kind === kind && resource.apiVersion === apiVersion)
  const [group = ''] = apiVersion.split('/')
  const mayBeCustom = apiVersion.includes('/') && group.includes('.')
  for (const untilMs = performance.now() + (mayBeCustom ? crdTimeoutMs : 0); ; ) {
    const found = find()
    if (found !== undefined) return found
    if (performance.now() >= untilMs) break
    await setTimeout(1)
  }
  throw new StartupError(`objects: ${origin}: unknown kind "${kind}" in version "${apiVersion}"`)
}

/** `origin`: file and line, or index in the option, for error messages. */
export interface ObjectWithOrigin {
  readonly object: ObjectValue
  readonly origin: string
}

export function readObjects(objects: readonly FirstObject[]): readonly ObjectWithOrigin[] {
  return objects.flatMap((object, i) =>
    typeof object === 'string' ? readPath(object) : itemsOf({ object: checkObject(object, `objects[${i}]`), origin: `objects[${i}]` }),
  )
}

function readPath(path: string): readonly ObjectWithOrigin[] {
  try {
    if (!statSync(path).isDirectory()) return readFile(path)
    const files = listManifests(path)
    if (files.length === 0) throw new StartupError(`objects: the folder ${path} has no file that ends in .yaml, .yml or .json`)
    return files.flatMap(readFile)
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown) throw new StartupError(`objects: cannot read ${path}: ${thrown.message}`)
    throw thrown
  }
}

function readFile(path: string): readonly ObjectWithOrigin[] {
  try {
    return readDocuments(readFileSync(path, 'utf8')).flatMap(({ value, line, duplicates }) => {
      const origin = `${path}:${line}`
      if (duplicates[0] !== undefined) throw new StartupError(`objects: ${origin}: ${duplicates[0]}`)
      return itemsOf({ object: checkObject(value, origin), origin })
    })
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === 'YamlError') throw new StartupError(`objects: ${path}: ${thrown.message}`)
    throw thrown
  }
}

function itemsOf({ object, origin }: ObjectWithOrigin): readonly ObjectWithOrigin[] {
  const { items } = object
  if (!object.kind.endsWith('List') || !Array.isArray(items)) return [{ object, origin }]
  return items.map((item: unknown, i) => ({ object: checkObject(item, `${origin}, item ${i}`), origin: `${origin}, item ${i}` }))
}

function checkObject(value: unknown, origin: string): ObjectValue {
  const object = value as Partial<ObjectValue> | null
  if (typeof object !== 'object' || object === null) throw new StartupError(`objects: ${origin}: must be an object`)
  for (const member of ['apiVersion', 'kind'] as const)
    if (typeof object[member] !== 'string' || object[member] === '') throw new StartupError(`objects: ${origin}: it has no ${member}`)
  return object as ObjectValue
}
