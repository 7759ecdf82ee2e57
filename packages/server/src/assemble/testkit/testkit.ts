// The test kit of one server: its components, and the filters, callbacks and wrappers that connect them with the server. A server without
// a test kit runs none of this code.

import type { CleanupStack } from '@cluster-apiserver/api/base/async/cleanup-stack.js'
import type { Filter } from '../../http/pipeline/filter.js'
import type { RequestHooks } from '../../http/pipeline/lifecycle.js'
import type { RequestListener } from '../../net/listen/http-messages.js'
import type { Storage } from '../../storage/storage.js'
import type { CommitListener, Engine } from '../../verbs/engine.js'
import { FaultRules, refuseWebhooks } from './faults/fault-rules.js'
import { FaultyStorage } from './faults/faulty-storage.js'
import { RequestFaults } from './faults/request-faults.js'
import { Inspection } from './inspection/inspection.js'
import { MovableClock } from './movable-clock.js'
import { TestWebhooks } from './webhooks/test-webhooks.js'

export class Testkit {
  readonly inspection = new Inspection()
  /** The control API: serves its requests before the pipeline sees them. Undefined unless --testkit is set. */
  control: { attach(next: RequestListener, cleanup: CleanupStack): RequestListener } | undefined = undefined
  readonly clock: MovableClock
  readonly faults = new FaultRules()
  readonly requestFaults = new RequestFaults(this.faults)
  readonly refuseWebhook = refuseWebhooks(this.faults)
  /** Run before all other filters, also before authentication. */
  readonly outerFilters: readonly Filter[] = [this.requestFaults.refuseExpiredTokens]
  /** Run after authorization, before the request is dispatched: faults. */
  readonly innerFilters: readonly Filter[] = [this.requestFaults.filter]
  readonly hooks: readonly RequestHooks[] = [this.requestFaults.hooks, ...this.inspection.hooks]
  readonly onCommit: CommitListener = this.inspection.onCommit
  readonly webhooks = new TestWebhooks(this.refuseWebhook)

  /** `offsetMs`: difference of the clock to real time, in a fork that of its parent. */
  constructor(offsetMs = 0) {
    this.clock = new MovableClock(offsetMs)
  }

  onShutdown(): void {
    this.clock.close()
    this.requestFaults.close()
  }

  wrapStorage(storage: Storage): Storage {
    this.inspection.changes.follow(storage, this.clock.time.system)
    return new FaultyStorage(storage, this.faults)
  }

  /** The engine for a controller: its commits are recorded with the name of the controller. */
  engineOf(controller: string, engine: Engine): Engine {
    return Object.create(engine, { onCommit: { value: this.inspection.changes.listener(controller), enumerable: true } }) as Engine
  }
}
