// The config map by which new nodes know the cluster is signed with every bootstrap token that is meant for it: whoever has the token can tell that
// nobody else wrote the map.

import { createHmac } from 'node:crypto'
import { ApiError } from '../api/api-error.js'
import { type ApiObject, withMetadata } from '../api/object.js'
import { sameValue } from '../api/validation/same-value.js'
import { type BootstrapSecret, isBootstrapSecretName, readBootstrapSecret } from '../auth/bootstrap-secret.js'
import { timerMs } from '../base/clock.js'
import { partsOf } from '../objects/keys.js'
import { everything } from '../objects/selection.js'
import type { ConfigMap } from '../resources/core/v1.schema.js'
import { update } from '../verbs/update.js'
import { KeyedLoop, type LoopParts } from './kit/loop.js'
import type { Loop } from './leader-election.js'
import { ownCall } from './own-call.js'

const mapName = 'cluster-info'
const contentKey = 'kubeconfig'
const signaturePrefix = 'jws-kubeconfig-'

export const clusterInfoSigner = (parts: LoopParts): Loop => {
  const { identity } = parts.engine
  return new KeyedLoop(parts, {
    name: 'bootstrap_signer',
    sources: (catalog) => {
      const secrets = catalog.find('', 'v1', 'secrets')
      const maps = catalog.find('', 'v1', 'configmaps')
      if (secrets === undefined || maps === undefined) return []
      return [
        {
          resource: secrets,
          namespace: identity.prefixed('system'),
          matches: ({ key }) => isBootstrapSecretName(partsOf(secrets, key).name),
          keyOf: () => mapName,
        },
        {
          resource: maps,
          namespace: identity.prefixed('public'),
          matches: ({ key }) => key.endsWith(`/${mapName}`),
          keyOf: (_, seen) => (seen === 'DELETED' ? undefined : mapName),
        },
      ]
    },
    work: async () => {
      const tokens = signersOf(parts)
      await signMap(parts, tokens)
      // A token whose time is over signs nothing.
      const leftMs = Math.min(...tokens.map(({ expiresMs }) => expiresMs)) - parts.engine.clock.now()
      return leftMs === Number.POSITIVE_INFINITY ? undefined : { afterMs: Math.max(0, timerMs(leftMs)) }
    },
  })
}

async function signMap({ engine, catalogs }: LoopParts, tokens: readonly BootstrapSecret[]): Promise<void> {
  const { identity, store } = engine
  const resource = catalogs.current.find('', 'v1', 'configmaps')
  const place = resource && { resource, namespace: identity.prefixed('public'), name: mapName }
  const map = place && (store.read(place)?.decode(place.resource) as ConfigMap | undefined)
  const content = map?.data?.[contentKey]
  if (place === undefined || map === undefined || content === undefined) return
  const kept = Object.entries(map.data ?? {}).filter(([key]) => !key.startsWith(signaturePrefix))
  const signatures = tokens.map(({ id, secret }) => [`${signaturePrefix}${id}`, signatureOf(content, id, secret)])
  const data = Object.fromEntries([...kept, ...signatures]) as { readonly [key: string]: string }
  if (sameValue(data, map.data)) return
  const object = withMetadata({ ...map, data } as ApiObject, { managedFields: undefined })
  try {
    await update(engine, ownCall(engine, place), { object })
  } catch (thrown) {
    // It was changed or deleted, of which the loop hears.
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
}

function signersOf({ engine, catalogs }: LoopParts): readonly BootstrapSecret[] {
  const { identity, store, clock } = engine
  const resource = catalogs.current.find('', 'v1', 'secrets')
  if (resource === undefined) return []
  const tokens: BootstrapSecret[] = []
  for (const stored of store.look({ resource, namespace: identity.prefixed('system'), selection: everything })) {
    if (stored === undefined || !isBootstrapSecretName(partsOf(resource, stored.key).name)) continue
    const token = readBootstrapSecret(identity, stored.decode(resource))
    if (token?.signs && token.id !== '' && token.secret !== '' && token.expiresMs > clock.now()) tokens.push(token)
  }
  return tokens
}

/** A signed token without what it signs, which stands beside it. */
function signatureOf(content: string, id: string, secret: string): string {
  const encode = (text: string): string => Buffer.from(text).toString('base64url')
  const header = encode(JSON.stringify({ alg: 'HS256', kid: id }))
  const signature = createHmac('sha256', secret)
    .update(`${header}.${encode(content)}`)
    .digest('base64url')
  return `${header}..${signature}`
}
