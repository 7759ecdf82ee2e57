// Secrets that hold a token of a service account are filled in, and go with their account.

import { ApiError } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { Identity } from '../api/identity.js'
import { partsOf } from '../objects/keys.js'
import { leanAnnotated, metadataOf } from '../objects/lean-object.js'
import { everything } from '../objects/selection.js'
import type { StoredObject } from '../objects/stored-object.js'
import { encodeText } from '../resources/core/base64-text.js'
import type { Secret } from '../resources/core/v1.schema.js'
import { KeyedLoop, type LoopParts, type Run } from './kit/loop.js'
import type { Loop } from './leader-election.js'
import { patchOwn, removeOwn } from './own-write.js'
import type { RootCa } from './root-ca.js'

interface Kinds {
  readonly secrets: Resource
  readonly accounts: Resource
}

/** A key is the place of a secret, or of an account that is gone. */
const secretKey = (namespace: string, name: string): string => `secret ${namespace} ${name}`
const accountKey = (namespace: string, name: string): string => `account ${namespace} ${name}`

export const tokenSecrets =
  (rootCa: RootCa) =>
  (parts: LoopParts): Loop => {
    const { identity } = parts.engine
    const isToken = (object: StoredObject, secrets: Resource): boolean => object.fields(secrets)?.['type'] === tokenType(identity)
    return new KeyedLoop(parts, {
      name: 'serviceaccount_tokens_secret',
      concurrency: 4,
      sources: (catalog) => {
        const kinds = kindsOf(catalog)
        if (kinds === undefined) return []
        const { secrets, accounts } = kinds
        return [
          {
            resource: secrets,
            namespace: '',
            matches: (object) => isToken(object, secrets),
            keyOf: (object, seen) => {
              if (seen === 'DELETED') return undefined
              const { namespace, name } = partsOf(secrets, object.key)
              return secretKey(namespace, name)
            },
          },
          {
            resource: accounts,
            namespace: '',
            onlyChanges: true,
            keyOf: ({ key }, seen) => {
              if (seen !== 'DELETED') return undefined
              const { namespace, name } = partsOf(accounts, key)
              return accountKey(namespace, name)
            },
          },
        ]
      },
      onOutsideChange: (lookAgain) => rootCa.onChange(lookAgain),
      work: async (key, run) => {
        const [kind, namespace = '', name = ''] = key.split(' ')
        const kinds = kindsOf(parts.catalogs.current)
        if (kinds === undefined) return undefined
        if (kind === 'secret') await keepSecret(parts, kinds, { namespace, name, ca: rootCa.pem() })
        else await dropSecretsOf(parts, kinds, { namespace, name, ca: rootCa.pem(), run })
        return undefined
      },
    })
  }

const tokenType = (identity: Identity): string => identity.label('service-account-token')

function kindsOf(catalog: LoopParts['catalogs']['current']): Kinds | undefined {
  const secrets = catalog.find('', 'v1', 'secrets')
  const accounts = catalog.find('', 'v1', 'serviceaccounts')
  return secrets === undefined || accounts === undefined ? undefined : { secrets, accounts }
}

async function keepSecret(
  { engine }: LoopParts,
  { secrets, accounts }: Kinds,
  { namespace, name, ca }: { readonly namespace: string; readonly name: string; readonly ca: string },
): Promise<void> {
  const { identity, issuer, store } = engine
  const stored = store.read({ resource: secrets, namespace, name })
  const secret = stored && (leanAnnotated(stored, secrets) as Secret)
  if (secret === undefined || secret.type !== tokenType(identity) || secret.metadata?.deletionTimestamp !== undefined) return
  const annotations = secret.metadata?.annotations ?? {}
  const accountName = annotations[identity.label('service-account.name')] ?? ''
  const wantedUid = annotations[identity.label('service-account.uid')] ?? ''
  const account = store.read({ resource: accounts, namespace, name: accountName })
  const uid = (account && metadataOf(account, accounts).uid) ?? ''
  const target = { resource: secrets, namespace, name }
  const seen = { uid: secret.metadata?.uid ?? '', resourceVersion: secret.metadata?.resourceVersion ?? '' }
  if (account === undefined || (wantedUid !== '' && wantedUid !== uid)) {
    await unlessChanged(removeOwn(engine, { ...target, options: { preconditions: seen } }))
    return
  }
  const { data = {} } = secret
  const wanted = { 'ca.crt': encodeText(ca), namespace: encodeText(namespace) }
  const isComplete = data['token'] && data['ca.crt'] === wanted['ca.crt'] && data['namespace'] && wantedUid === uid
  if (isComplete || issuer === undefined) return
  const token = data['token'] || encodeText(await issuer.issueForSecret({ namespace, secret: name, account: { name: accountName, uid } }))
  // What else somebody put there stays.
  const filled = { ...wanted, ...(data['namespace'] ? { namespace: data['namespace'] } : {}), token }
  const metadata = { ...seen, annotations: { [identity.label('service-account.uid')]: uid } }
  await unlessChanged(patchOwn(engine, target, { metadata, data: filled }))
}

/** All secrets of an account that is gone are looked at again, and go. */
async function dropSecretsOf(
  parts: LoopParts,
  kinds: Kinds,
  { namespace, name, ca, run }: { readonly namespace: string; readonly name: string; readonly ca: string; readonly run: Run },
): Promise<void> {
  const { engine } = parts
  const label = engine.identity.label('service-account.name')
  const names: string[] = []
  for (const object of engine.store.look({ resource: kinds.secrets, namespace, selection: everything })) {
    if (run.pieces.isOver) await run.pieces.next()
    if (object === undefined || object.fields(kinds.secrets)?.['type'] !== tokenType(engine.identity)) continue
    if (leanAnnotated(object, kinds.secrets).metadata?.annotations?.[label] === name) names.push(partsOf(kinds.secrets, object.key).name)
  }
  const failures: unknown[] = []
  // One that may not be deleted does not save the others.
  for (const secret of names)
    await keepSecret(parts, kinds, { namespace, name: secret, ca }).catch((thrown: unknown) => failures.push(thrown))
  if (failures.length > 0) throw failures[0]
}

/** Somebody else was quicker, of which the loop hears. */
async function unlessChanged(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
}
