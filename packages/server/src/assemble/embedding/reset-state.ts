// Restores a server in memory to a snapshot. Differences are written as commits, so that watches see them.

import { hostname } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { apiServerLease } from '../../controllers/bootstrap/apiserver-objects.js'
import { keyOf } from '../../objects/object-keys.js'
import type { MemorySnapshot, MemoryStorage } from '../../storage/memory/memory-storage.js'
import type { Write } from '../../storage/storage.js'
import type { EmbeddingParts } from './assembled-server.js'
import { waitUntilIdle } from './until-idle.js'

const crds = { group: { stem: 'apiextensions' }, resource: 'customresourcedefinitions' } as const
/** Maximum number of writes in one event-loop iteration. */
const maxWritesPerStep = 500
/** Concurrent writes may need another round. */
const maxRounds = 20
const shortTimeoutMs = 200

export async function restoreState(parts: EmbeddingParts, memory: MemoryStorage, snapshot: MemorySnapshot): Promise<void> {
  const { engine, catalogs } = parts
  parts.begin()
  const lease = leaseKeyOf(parts)
  const crdPrefix = `${catalogs.current.find(engine.identity.group(crds.group), 'v1', crds.resource)?.collection}/`
  let isIdle = true
  for (let round = 0; round < maxRounds; round++) {
    // A controller that is still busy waits for something external, so later rounds wait for a shorter time.
    isIdle = await waitUntilIdle(parts, isIdle ? undefined : shortTimeoutMs)
    // The identity lease is renewed continuously.
    const differences = [...memory.writesTo(snapshot)].filter(({ key }) => key !== lease || memory.read(key) === undefined)
    if (differences.length === 0) {
      parts.forget()
      return
    }
    for (const writes of orderWrites(differences, crdPrefix)) {
      // A commit each, so that a watch that resumes after one of the changes misses none of the others.
      await Promise.all(writes.map((write) => memory.commit([write])))
      // Watches must see the deletion of objects before that of their CRD.
      await setImmediate()
    }
  }
  throw new Error('restore: clients keep writing to the server; let their requests end first')
}

/** Custom resources are deleted before their CRDs and created after them. */
function* orderWrites(differences: readonly Write[], crdPrefix: string): Generator<readonly Write[]> {
  const isCrd = ({ key }: Write): boolean => key.startsWith(crdPrefix)
  const others = differences.filter((write) => !isCrd(write))
  const groups = [
    others.filter(({ value }) => value === undefined),
    differences.filter(isCrd),
    others.filter(({ value }) => value !== undefined),
  ]
  for (const group of groups) for (let i = 0; i < group.length; i += maxWritesPerStep) yield group.slice(i, i + maxWritesPerStep)
}

function leaseKeyOf({ engine: { identity }, catalogs }: EmbeddingParts): string | undefined {
  const {
    group,
    version,
    resource,
    namespace = '',
    object,
  } = apiServerLease(identity, { hostname: hostname(), holder: '', leaseSeconds: 0, now: 0 })
  const leases = catalogs.current.find(identity.group(group), version, resource)
  return leases && keyOf(leases, namespace, object.metadata?.name ?? '')
}
