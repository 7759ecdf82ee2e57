// Bootstrap tokens whose time is over are deleted.

import { ApiError } from '../api/api-error.js'
import { isBootstrapSecretName, readBootstrapSecret } from '../auth/bootstrap-secret.js'
import { timerMs } from '../base/clock.js'
import { partsOf } from '../objects/keys.js'
import { remove } from '../verbs/delete.js'
import { KeyedLoop, type LoopParts } from './kit/loop.js'
import type { Loop } from './leader-election.js'
import { ownCall } from './own-call.js'

export const tokenCleaner = (parts: LoopParts): Loop =>
  new KeyedLoop(parts, {
    name: 'token_cleaner',
    sources: (catalog) => {
      const resource = catalog.find('', 'v1', 'secrets')
      if (resource === undefined) return []
      return [
        {
          resource,
          namespace: parts.engine.identity.prefixed('system'),
          matches: ({ key }) => isBootstrapSecretName(partsOf(resource, key).name),
          keyOf: ({ key }, seen) => (seen === 'DELETED' ? undefined : partsOf(resource, key).name),
        },
      ]
    },
    work: (name) => cleanUp(parts, name),
  })

/** Gives when to look again. */
async function cleanUp({ engine, catalogs }: LoopParts, name: string): Promise<{ readonly afterMs: number } | undefined> {
  const { identity, clock, store } = engine
  const resource = catalogs.current.find('', 'v1', 'secrets')
  const namespace = identity.prefixed('system')
  const object = resource && store.read({ resource, namespace, name })?.decode(resource)
  const secret = object && readBootstrapSecret(identity, object)
  if (resource === undefined || object === undefined || secret === undefined || secret.expiresMs === Number.POSITIVE_INFINITY)
    return undefined
  const leftMs = secret.expiresMs - clock.now()
  if (leftMs > 0) return { afterMs: timerMs(leftMs) }
  const { uid = '', resourceVersion = '' } = object.metadata ?? {}
  try {
    await remove(engine, ownCall(engine, { resource, namespace, name, options: { preconditions: { uid, resourceVersion } } }))
  } catch (thrown) {
    // It was changed or deleted, of which the loop hears.
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
  return undefined
}
