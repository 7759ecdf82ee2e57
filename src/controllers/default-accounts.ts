// Every namespace has the service account that pods run as when they name none; one that was deleted is made again.

import { ApiError } from '../api/api-error.js'
import { bytesOf } from '../objects/entry-header.js'
import { partsOf } from '../objects/keys.js'
import { isGoing } from '../objects/owner-fields.js'
import { create } from '../verbs/create.js'
import { KeyedLoop, type LoopParts } from './kit/loop.js'
import { isNamespaceGoing } from './kit/namespace-going.js'
import type { Loop } from './leader-election.js'
import { ownCall } from './own-call.js'

const accountName = 'default'
/**
 * A namespace that goes takes its account with it, so it is better to look a little later. And who deletes the account and makes a pod at once is
 * told that there is none, however quick the store is: the reference hears of a deletion after that, too.
 */
const againMs = 100

export const defaultAccounts = (parts: LoopParts): Loop =>
  new KeyedLoop(parts, {
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
          keyOf: ({ key }, seen) => (seen === 'ADDED' || seen === 'LISTED' ? partsOf(namespaces, key).name : undefined),
        },
        {
          resource: accounts,
          namespace: '',
          onlyChanges: true,
          matches: ({ key }) => key.endsWith(`/${accountName}`),
          keyOf: ({ key }, seen) => (seen === 'DELETED' ? { key: partsOf(accounts, key).namespace, afterMs: againMs } : undefined),
        },
      ]
    },
    work: async (namespace) => {
      await provide(parts, namespace)
      return undefined
    },
  })

async function provide({ engine, catalogs }: LoopParts, namespace: string): Promise<void> {
  const namespaces = catalogs.current.find('', 'v1', 'namespaces')
  const resource = catalogs.current.find('', 'v1', 'serviceaccounts')
  if (namespaces === undefined || resource === undefined) return
  const home = engine.store.read({ resource: namespaces, namespace: '', name: namespace })
  // One that is going would only have to delete it again.
  if (home === undefined || isGoing(bytesOf(home.entry))) return
  if (engine.store.read({ resource, namespace, name: accountName }) !== undefined) return
  try {
    await create(engine, ownCall(engine, { resource, namespace, name: accountName }), {
      object: { metadata: { name: accountName } },
    })
  } catch (thrown) {
    // Somebody else made it, or the namespace is going: either way there is nothing left to do. Whoever else refuses is asked again later.
    if (isNamespaceGoing(thrown)) return
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
}
