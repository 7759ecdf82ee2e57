// Every namespace gets the service account that pods run as when they name none.

import { ApiError } from '../api/api-error.js'
import type { Catalog, Resource } from '../api/catalog.js'
import type { Logger } from '../base/logger.js'
import { partsOf } from '../objects/keys.js'
import { everything } from '../objects/selection.js'
import { create } from '../verbs/create.js'
import type { Engine } from '../verbs/engine.js'
import type { Loop } from './leader-election.js'
import { ownCall } from './own-call.js'

export interface DefaultAccountsOptions {
  readonly engine: Engine
  readonly catalog: Catalog
  readonly logger: Logger
}

const accountName = 'default'

/** How long after a failure it is tried again. */
const retryMs = 2000

export class DefaultAccounts implements Loop {
  private readonly options: DefaultAccountsOptions
  private readonly accounts: Resource | undefined
  private readonly running = new Set<Promise<void>>()
  private readonly timers = new Set<NodeJS.Timeout>()
  private isClosed = false
  private readonly stop: () => void

  constructor(options: DefaultAccountsOptions) {
    this.options = options
    this.accounts = options.catalog.find('', 'v1', 'serviceaccounts')
    const namespaces = options.catalog.find('', 'v1', 'namespaces')
    if (namespaces === undefined || this.accounts === undefined) {
      this.stop = () => undefined
      return
    }
    const { store } = options.engine
    const provide = (key: string): void => this.provide(partsOf(namespaces, key).name)
    this.stop = store.watch({
      resource: namespaces,
      namespace: '',
      matches: undefined,
      deliver: ({ type, object }) => type === 'ADDED' && provide(object.key),
    })
    for (const { key } of store.list({ resource: namespaces, namespace: '', selection: everything, limit: 0 }).objects()) provide(key)
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.stop()
    for (const timer of this.timers) clearTimeout(timer)
    await Promise.allSettled(this.running)
  }

  private provide(namespace: string): void {
    const run = this.make(namespace).finally(() => this.running.delete(run))
    this.running.add(run)
  }

  private async make(namespace: string): Promise<void> {
    const { engine, logger } = this.options
    const resource = this.accounts as Resource
    if (engine.store.read({ resource, namespace, name: accountName }) !== undefined) return
    try {
      await create(engine, ownCall(engine, { resource, namespace, name: accountName }), {
        object: { metadata: { name: accountName } },
        options: {},
      })
    } catch (thrown) {
      // Somebody else made it, or the namespace is gone again: either way there is nothing left to do.
      const isSettled = thrown instanceof ApiError && [403, 404, 409].includes(thrown.status.code)
      if (isSettled || this.isClosed) return
      logger.warn({ namespace, err: thrown }, 'a namespace has no service account yet; it is tried again')
      this.tryLater(namespace)
    }
  }

  private tryLater(namespace: string): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      this.provide(namespace)
    }, retryMs)
    this.timers.add(timer)
  }
}
