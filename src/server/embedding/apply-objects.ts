// Puts the objects that a server shall begin with into it: applied like those of any client, with their status where they have one, and those
// first on which others depend.

import { setTimeout } from 'node:timers/promises'
import type { Resource } from '../../api/catalog.js'
import { ownCall } from '../../controllers/own-call.js'
import { patch } from '../../verbs/patch.js'
import { StartError } from '../start-failure.js'
import type { Parts } from './parts.js'
import type { NamedObject } from './read-objects.js'
import { untilIdle } from './until-idle.js'

const fieldManager = 'start'
/** How long a definition may take until its kind is served. */
const definitionMs = 5000

export async function applyObjects(parts: Parts, objects: readonly NamedObject[]): Promise<void> {
  const rank = ({ object: { kind } }: NamedObject): number => {
    const place = ['Namespace', 'CustomResourceDefinition'].indexOf(kind)
    return place < 0 ? 2 : place
  }
  for (const object of objects.toSorted((a, b) => rank(a) - rank(b))) {
    try {
      await apply(parts, object)
    } catch (thrown) {
      if (thrown instanceof StartError) throw thrown
      throw new StartError(`objects: ${object.origin}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    }
  }
  await untilIdle(parts)
}

async function apply(parts: Parts, { object, origin }: NamedObject): Promise<void> {
  const { engine } = parts
  const metadata = (object['metadata'] ?? {}) as { readonly [member: string]: unknown }
  const { name, namespace } = metadata
  if (typeof name !== 'string' || name === '') throw new StartError(`objects: ${origin}: it has no metadata.name`)
  const resource = await findKind(parts, { object, origin })
  // What a server keeps of an object says nothing about another one.
  const { managedFields: _m, resourceVersion: _r, uid: _u, creationTimestamp: _c, selfLink: _s, generation: _g, ...kept } = metadata
  const target = {
    resource,
    name,
    namespace: resource.namespaced ? (typeof namespace === 'string' && namespace !== '' ? namespace : 'default') : '',
    options: { fieldManager, force: true, fieldValidation: 'Strict' as const },
  }
  const { status, ...rest } = object
  await patch(engine, ownCall(engine, target), { type: 'apply', patch: { ...rest, metadata: kept }, duplicates: [] })
  if (status === undefined || resource.subresources.get('status') === undefined) return
  const { apiVersion, kind } = object
  await patch(engine, ownCall(engine, { ...target, subresource: 'status' }), {
    type: 'apply',
    patch: { apiVersion, kind, metadata: { name, ...(resource.namespaced ? { namespace: target.namespace } : {}) }, status },
    duplicates: [],
  })
}

/** A kind whose definition came just before is served as soon as its names are accepted. */
async function findKind({ catalogs }: Parts, { object: { apiVersion, kind }, origin }: NamedObject): Promise<Resource> {
  const find = (): Resource | undefined =>
    catalogs.current.all().find((resource) => resource.kind === kind && resource.apiVersion === apiVersion)
  const [group = ''] = apiVersion.split('/')
  const isAwaited = apiVersion.includes('/') && group.includes('.')
  for (const untilMs = performance.now() + (isAwaited ? definitionMs : 0); ; ) {
    const found = find()
    if (found !== undefined) return found
    if (performance.now() >= untilMs) break
    await setTimeout(1)
  }
  throw new StartError(`objects: ${origin}: there is no kind "${kind}" in version "${apiVersion}"`)
}
