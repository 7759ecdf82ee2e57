// Signs the ConfigMap cluster-info with every unexpired bootstrap token that has the usage `signing` (bootstrap signer).

import { createHmac } from 'node:crypto'
import { type ApiObject, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import type { ConfigMap } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type BootstrapSecret, isBootstrapSecretName, readBootstrapSecret } from '../../auth/tokens/bootstrap-tokens.js'
import { everything } from '../../objects/list/selection.js'
import { partsOf } from '../../objects/object-keys.js'
import { update } from '../../verbs/update.js'
import { type ControllerParts, KeyedController } from '../framework/controller.js'
import { ignoreErrors, internalCall, notFoundOrConflict } from '../framework/internal-call.js'
import type { Controller } from '../leader-election/leader-election.js'

const configMapName = 'cluster-info'
const contentKey = 'kubeconfig'
const signaturePrefix = 'jws-kubeconfig-'

export const clusterInfoSigner = (parts: ControllerParts): Controller => {
  const { identity } = parts.engine
  return new KeyedController(parts, {
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
          keyOf: () => configMapName,
        },
        {
          resource: maps,
          namespace: identity.prefixed('public'),
          matches: ({ key }) => key.endsWith(`/${configMapName}`),
          keyOf: (_, eventType) => (eventType === 'DELETED' ? undefined : configMapName),
        },
      ]
    },
    work: async () => {
      const tokens = signingTokens(parts)
      await signConfigMap(parts, tokens)
      const remainingMs = Math.min(...tokens.map(({ expiresMs }) => expiresMs)) - parts.engine.clock.now()
      return remainingMs === Number.POSITIVE_INFINITY ? undefined : { afterMs: Math.max(0, timerMs(remainingMs)) }
    },
  })
}

async function signConfigMap({ engine, catalogs }: ControllerParts, tokens: readonly BootstrapSecret[]): Promise<void> {
  const { identity, store } = engine
  const resource = catalogs.current.find('', 'v1', 'configmaps')
  const address = resource && { resource, namespace: identity.prefixed('public'), name: configMapName }
  const map = address && (store.read(address)?.decode(address.resource) as ConfigMap | undefined)
  const content = map?.data?.[contentKey]
  if (address === undefined || map === undefined || content === undefined) return
  const otherEntries = Object.entries(map.data ?? {}).filter(([key]) => !key.startsWith(signaturePrefix))
  const signatures = tokens.map(({ id, secret }) => [`${signaturePrefix}${id}`, signatureOf(content, id, secret)])
  const data = Object.fromEntries([...otherEntries, ...signatures]) as { readonly [key: string]: string }
  if (sameValue(data, map.data)) return
  const object = withMetadata({ ...map, data } as ApiObject, { managedFields: undefined })
  await ignoreErrors(notFoundOrConflict, update(engine, internalCall(engine, address), { object }))
}

function signingTokens({ engine, catalogs }: ControllerParts): readonly BootstrapSecret[] {
  const { identity, store, clock } = engine
  const resource = catalogs.current.find('', 'v1', 'secrets')
  if (resource === undefined) return []
  const tokens: BootstrapSecret[] = []
  for (const stored of store.readInSteps({ resource, namespace: identity.prefixed('system'), selection: everything })) {
    if (stored === undefined || !isBootstrapSecretName(partsOf(resource, stored.key).name)) continue
    const token = readBootstrapSecret(identity, stored.decode(resource))
    if (token?.canSign && token.id !== '' && token.secret !== '' && token.expiresMs > clock.now()) tokens.push(token)
  }
  return tokens
}

function signatureOf(content: string, id: string, secret: string): string {
  const encode = (text: string): string => Buffer.from(text).toString('base64url')
  const header = encode(JSON.stringify({ alg: 'HS256', kid: id }))
  const signature = createHmac('sha256', secret)
    .update(`${header}.${encode(content)}`)
    .digest('base64url')
  return `${header}..${signature}`
}
