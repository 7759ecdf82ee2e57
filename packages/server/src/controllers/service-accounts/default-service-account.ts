// Creates the ServiceAccount `default` in every namespace, also after a deletion.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { bytesOf } from '../../objects/entry/entry-header.js'
import { partsOf } from '../../objects/object-keys.js'
import { hasDeletionTimestamp } from '../../objects/owner-index.js'
import { create } from '../../verbs/create.js'
import { type ControllerParts, KeyedController } from '../framework/controller.js'
import { internalCall, isNamespaceTerminating } from '../framework/internal-call.js'
import type { Controller } from '../leader-election/leader-election.js'

const accountName = 'default'
/** Delay after which a deleted account is created again, unless its namespace is terminating. */
const recreateDelayMs = 100

export const defaultServiceAccounts = (parts: ControllerParts): Controller =>
  new KeyedController(parts, {
    name: 'serviceaccount',
    concurrency: 4,
    sources: (catalog) => {
      const namespaces = catalog.find('', 'v1', 'namespaces')
      const accounts = catalog.find('', 'v1', 'serviceaccounts')
      if (namespaces === undefined || accounts === undefined) return []
      return [
        {
          resource: namespaces,
          namespace: '',
          keyOf: ({ key }, eventType) => (eventType === 'ADDED' || eventType === 'LISTED' ? partsOf(namespaces, key).name : undefined),
        },
        {
          resource: accounts,
          namespace: '',
          onlyChanges: true,
          matches: ({ key }) => key.endsWith(`/${accountName}`),
          keyOf: ({ key }, eventType) =>
            eventType === 'DELETED' ? { key: partsOf(accounts, key).namespace, afterMs: recreateDelayMs } : undefined,
        },
      ]
    },
    work: async (namespace) => {
      await ensureAccount(parts, namespace)
      return undefined
    },
  })

async function ensureAccount({ engine, catalogs }: ControllerParts, namespace: string): Promise<void> {
  const namespaces = catalogs.current.find('', 'v1', 'namespaces')
  const resource = catalogs.current.find('', 'v1', 'serviceaccounts')
  if (namespaces === undefined || resource === undefined) return
  const storedNamespace = engine.store.read({ resource: namespaces, namespace: '', name: namespace })
  if (storedNamespace === undefined || hasDeletionTimestamp(bytesOf(storedNamespace.entry))) return
  if (engine.store.read({ resource, namespace, name: accountName }) !== undefined) return
  try {
    await create(engine, internalCall(engine, { resource, namespace, name: accountName }), {
      object: { metadata: { name: accountName } },
    })
  } catch (thrown) {
    // Another replica created the account (409), or the namespace is terminating or deleted (404). Other errors are retried.
    if (isNamespaceTerminating(thrown)) return
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
}
