// Deletes Secrets of expired bootstrap tokens.

import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import { isBootstrapSecretName, readBootstrapSecret } from '../../auth/tokens/bootstrap-tokens.js'
import { partsOf } from '../../objects/object-keys.js'
import { remove } from '../../verbs/delete.js'
import { type ControllerParts, KeyedController } from '../framework/controller.js'
import { ignoreErrors, internalCall, notFoundOrConflict } from '../framework/internal-call.js'
import type { Controller } from '../leader-election/leader-election.js'

export const bootstrapTokenCleaner = (parts: ControllerParts): Controller =>
  new KeyedController(parts, {
    name: 'token_cleaner',
    sources: (catalog) => {
      const resource = catalog.find('', 'v1', 'secrets')
      if (resource === undefined) return []
      return [
        {
          resource,
          namespace: parts.engine.identity.prefixed('system'),
          matches: ({ key }) => isBootstrapSecretName(partsOf(resource, key).name),
          keyOf: ({ key }, eventType) => (eventType === 'DELETED' ? undefined : partsOf(resource, key).name),
        },
      ]
    },
    work: (name) => deleteExpired(parts, name),
  })

async function deleteExpired({ engine, catalogs }: ControllerParts, name: string): Promise<{ readonly afterMs: number } | undefined> {
  const { identity, clock, store } = engine
  const resource = catalogs.current.find('', 'v1', 'secrets')
  const namespace = identity.prefixed('system')
  const object = resource && store.read({ resource, namespace, name })?.decode(resource)
  const secret = object && readBootstrapSecret(identity, object)
  if (resource === undefined || object === undefined || secret === undefined || secret.expiresMs === Number.POSITIVE_INFINITY)
    return undefined
  const remainingMs = secret.expiresMs - clock.now()
  if (remainingMs > 0) return { afterMs: timerMs(remainingMs) }
  const { uid = '', resourceVersion = '' } = object.metadata ?? {}
  await ignoreErrors(
    notFoundOrConflict,
    remove(engine, internalCall(engine, { resource, namespace, name, options: { preconditions: { uid, resourceVersion } } })),
  )
  return undefined
}
