// Fills Secrets of type service-account-token, and deletes them with their account.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { encodeText } from '@cluster-apiserver/api/resources/core/base64-text.js'
import type { Secret } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { StoredObject } from '../../objects/entry/stored-object.js'
import { everything } from '../../objects/list/selection.js'
import { partsOf } from '../../objects/object-keys.js'
import { type ControllerParts, KeyedController, type Run } from '../framework/controller.js'
import { ignoreErrors, internalDelete, internalPatch, notFoundOrConflict } from '../framework/internal-call.js'
import type { Controller } from '../leader-election/leader-election.js'
import type { RootCa } from './root-ca-config-map.js'

interface Resources {
  readonly secrets: Resource
  readonly accounts: Resource
}

const secretKey = (namespace: string, name: string): string => `secret ${namespace} ${name}`
const accountKey = (namespace: string, name: string): string => `account ${namespace} ${name}`

export const serviceAccountTokenSecrets =
  (rootCa: RootCa) =>
  (parts: ControllerParts): Controller => {
    const { identity } = parts.engine
    const isToken = (object: StoredObject, secrets: Resource): boolean => object.fields(secrets)?.['type'] === tokenType(identity)
    return new KeyedController(parts, {
      name: 'serviceaccount_tokens_secret',
      concurrency: 4,
      sources: (catalog) => {
        const resources = resourcesOf(catalog)
        if (resources === undefined) return []
        const { secrets, accounts } = resources
        return [
          {
            resource: secrets,
            namespace: '',
            matches: (object) => isToken(object, secrets),
            keyOf: (object, eventType) => {
              if (eventType === 'DELETED') return undefined
              const { namespace, name } = partsOf(secrets, object.key)
              return secretKey(namespace, name)
            },
          },
          {
            resource: accounts,
            namespace: '',
            onlyChanges: true,
            keyOf: ({ key }, eventType) => {
              if (eventType !== 'DELETED') return undefined
              const { namespace, name } = partsOf(accounts, key)
              return accountKey(namespace, name)
            },
          },
        ]
      },
      onExternalChange: (resync) => rootCa.onChange(resync),
      work: async (key, run) => {
        const [kind, namespace = '', name = ''] = key.split(' ')
        const resources = resourcesOf(parts.catalogs.current)
        if (resources === undefined) return undefined
        if (kind === 'secret') await reconcileSecret(parts, resources, { namespace, name, ca: rootCa.pem() })
        else await reconcileSecretsOf(parts, resources, { namespace, name, ca: rootCa.pem(), run })
        return undefined
      },
    })
  }

const tokenType = (identity: Identity): string => identity.label('service-account-token')

function resourcesOf(catalog: ControllerParts['catalogs']['current']): Resources | undefined {
  const secrets = catalog.find('', 'v1', 'secrets')
  const accounts = catalog.find('', 'v1', 'serviceaccounts')
  return secrets === undefined || accounts === undefined ? undefined : { secrets, accounts }
}

async function reconcileSecret(
  { engine }: ControllerParts,
  { secrets, accounts }: Resources,
  { namespace, name, ca }: { readonly namespace: string; readonly name: string; readonly ca: string },
): Promise<void> {
  const { identity, issuer, store } = engine
  const stored = store.read({ resource: secrets, namespace, name })
  const secret = stored && (stored.decode(secrets) as Secret)
  if (secret === undefined || secret.type !== tokenType(identity) || secret.metadata?.deletionTimestamp !== undefined) return
  const annotations = secret.metadata?.annotations ?? {}
  const accountName = annotations[identity.label('service-account.name')] ?? ''
  const wantedUid = annotations[identity.label('service-account.uid')] ?? ''
  const account = store.read({ resource: accounts, namespace, name: accountName })
  const uid = account?.inAnyVersion(accounts).metadata?.uid ?? ''
  const target = { resource: secrets, namespace, name }
  const preconditions = { uid: secret.metadata?.uid ?? '', resourceVersion: secret.metadata?.resourceVersion ?? '' }
  if (account === undefined || (wantedUid !== '' && wantedUid !== uid)) {
    await ignoreErrors(notFoundOrConflict, internalDelete(engine, { ...target, options: { preconditions } }))
    return
  }
  const { data = {} } = secret
  const wanted = { 'ca.crt': encodeText(ca), namespace: encodeText(namespace) }
  const isComplete = data['token'] && data['ca.crt'] === wanted['ca.crt'] && data['namespace'] && wantedUid === uid
  if (isComplete || issuer === undefined) return
  const token = data['token'] || encodeText(await issuer.issueForSecret({ namespace, secret: name, account: { name: accountName, uid } }))
  const filled = { ...wanted, ...(data['namespace'] ? { namespace: data['namespace'] } : {}), token }
  const metadata = { ...preconditions, annotations: { [identity.label('service-account.uid')]: uid } }
  await ignoreErrors(notFoundOrConflict, internalPatch(engine, target, { metadata, data: filled }))
}

async function reconcileSecretsOf(
  parts: ControllerParts,
  resources: Resources,
  { namespace, name, ca, run }: { readonly namespace: string; readonly name: string; readonly ca: string; readonly run: Run },
): Promise<void> {
  const { engine } = parts
  const label = engine.identity.label('service-account.name')
  const names: string[] = []
  for (const object of engine.store.readInSteps({ resource: resources.secrets, namespace, selection: everything })) {
    await run.budget.yieldIfSpent()
    if (object === undefined || object.fields(resources.secrets)?.['type'] !== tokenType(engine.identity)) continue
    if (object.decode(resources.secrets).metadata?.annotations?.[label] === name) names.push(partsOf(resources.secrets, object.key).name)
  }
  const failures: unknown[] = []
  for (const secret of names)
    await reconcileSecret(parts, resources, { namespace, name: secret, ca }).catch((thrown: unknown) => failures.push(thrown))
  if (failures.length > 0) throw failures[0]
}
