// Context of a start: settings, logger, the cleanup of everything that was opened, and what a fork shares with its parent.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { CleanupStack } from '@cluster-apiserver/api/base/async/cleanup-stack.js'
import type { Time } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { TlsHandshakes } from '../net/listen/tls-handshakes.js'
import type { Settings } from '../options/settings.js'
import type { MemorySnapshot } from '../storage/memory/memory-storage.js'
import type { AdminCredential } from './admin-kubeconfig.js'
import type { TokenKeys } from './certificates/service-account-keys.js'
import type { ReloadableCertificate } from './certificates/serving-certificate.js'
import type { ProcessRole } from './processes/process-role.js'
import type { Testkit } from './testkit/testkit.js'

export interface StartContext {
  readonly settings: Settings
  readonly logger: Logger
  /** Cleanup functions, run in reverse order. */
  readonly cleanup: CleanupStack
  readonly signal: AbortSignal | undefined
  /** Moved by the test kit, if there is one. Network timeouts and CPU budgets use real time instead. */
  readonly time: Time
  /** Absent unless the server is embedded, or started with --testkit. */
  readonly testkit: Testkit | undefined
  /** Path of a captured cluster, which a server in memory imports before it starts. */
  readonly from?: string | undefined
  /** Undefined without --workers. */
  readonly role?: ProcessRole | undefined
  /** Only in a fork. A fork starts no controllers and writes nothing before its first request. */
  readonly parent: SharedParts | undefined
}

/** Parts of a server in memory that its forks share. */
export interface SharedParts {
  readonly snapshot: MemorySnapshot
  /** Catalog of the built-in kinds. */
  readonly catalog: Catalog
  readonly credential: AdminCredential
  /** Undefined if a fork reads the certificate from the same files. */
  readonly certificate: ReloadableCertificate | undefined
  /** Undefined if the fork has TLS contexts of its own. */
  readonly handshakes: TlsHandshakes | undefined
  readonly tokenKeys: TokenKeys
  /** Holder of the identity lease. */
  readonly holder: string
  /** False if a controller was busy: then the controllers of the fork start at once. */
  readonly isIdle: boolean
}
