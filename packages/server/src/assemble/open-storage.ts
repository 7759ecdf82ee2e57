// Opens the storage engine of the settings, with encryption at rest if configured.

import { join } from 'node:path'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Time } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { format0Versions } from '../objects/entry/format-0-versions.js'
import { entryUpgrade } from '../objects/entry/upgrade-entries.js'
import { flagError } from '../options/flags/flag.js'
import { parseEncryptionConfig } from '../options/read-encryption.js'
import type { EncryptionSettings, EtcdSettings, Settings } from '../options/settings.js'
import type { EmbeddedStorage } from '../storage/lmdb/lmdb-storage.js'
import type { MemoryOptions, MemoryStorage } from '../storage/memory/memory-storage.js'
import type { FormatUpgrade, Storage } from '../storage/storage.js'
import { dialTo } from './outbound.js'
import type { ProcessRole } from './processes/process-role.js'
import { ReloadingFile } from './reloading-file.js'

interface OpenedStorage {
  readonly storage: Storage
  /** The memory engine, below encryption; undefined with another engine. */
  readonly memory: MemoryStorage | undefined
  /** The store of worker processes, below encryption; only in their primary. */
  readonly shared: EmbeddedStorage | undefined
}

interface StorageOptions {
  readonly logger: Logger
  readonly time: Time
  /** Aborts the wait for etcd. */
  readonly signal?: AbortSignal | undefined
  /** First state of the memory engine. */
  readonly initial?: MemoryOptions['initial'] | undefined
  readonly role?: ProcessRole | undefined
}

export async function openStorage(settings: Settings, options: StorageOptions): Promise<OpenedStorage> {
  const { encryption, identity, etcd } = settings
  const { logger } = options
  const memory = etcd === undefined && settings.storage === 'memory' ? await openMemory(options) : undefined
  const shared = options.role?.kind === 'primary' ? await openEmbedded(settings, options) : undefined
  const storage = memory ?? shared ?? (await openDurable(settings, options))
  return { storage: encryption === undefined ? storage : await encryptAtRest(storage, encryption, { logger, identity }), memory, shared }
}

async function openMemory({ time, initial }: StorageOptions): Promise<MemoryStorage> {
  const { openMemoryStorage } = await import('../storage/memory/memory-storage.js')
  return openMemoryStorage({ clock: time.steady, timers: time.timers, ...(initial === undefined ? {} : { initial }) })
}

/** Reloads the configuration file, if requested, until the storage is closed. */
async function encryptAtRest(
  storage: Storage,
  { path, text, rules, reloads }: EncryptionSettings,
  { logger, identity }: { readonly logger: Logger; readonly identity: Settings['identity'] },
): Promise<Storage> {
  const { EncryptedStorage } = await import('../storage/encryption-at-rest/encrypted-storage.js')
  const file = { current: undefined as ReloadingFile | undefined }
  const refresh = (): void => file.current?.reload()
  const encrypted = new EncryptedStorage({ storage, rules, logger, refresh, onClose: () => file.current?.close() })
  const apply = (changed: string): void => encrypted.setRules(parseEncryptionConfig(changed, identity))
  if (reloads) file.current = new ReloadingFile({ path, text, apply, logger })
  return encrypted
}

function openDurable(settings: Settings, options: StorageOptions): Promise<Storage> {
  const { logger, time, signal, role } = options
  if (settings.etcd !== undefined) return openEtcd(settings, settings.etcd, { logger, time, ...(signal === undefined ? {} : { signal }) })
  return role?.kind === 'worker' ? role.openStorage(join(storeFolder(settings), 'data.mdb')) : openEmbedded(settings, options)
}

const storeFolder = ({ dataDir }: Settings): string => {
  if (dataDir === undefined) throw flagError('data-dir', 'required for a durable store')
  return join(dataDir, 'store')
}

async function openEmbedded(settings: Settings, { logger, time, role }: StorageOptions): Promise<EmbeddedStorage> {
  const folder = storeFolder(settings)
  const { openLmdbStorage } = await import('../storage/lmdb/lmdb-storage.js')
  return openLmdbStorage({
    folder,
    isShared: role !== undefined,
    mark: settings.identity.name,
    upgrade: upgradeFor(settings.identity),
    clock: time.steady,
    timers: time.timers,
    logger,
  })
}

export const upgradeFor = (identity: Identity): FormatUpgrade => entryUpgrade(format0Versions(identity))

async function openEtcd(
  settings: Settings,
  { servers, prefix, tls, leaseReuseMs }: EtcdSettings,
  { time, ...options }: { readonly logger: Logger; readonly time: Time; readonly signal?: AbortSignal },
): Promise<Storage> {
  const { dataDir, identity } = settings
  const { openEtcdStorage } = await import('../storage/etcd/etcd-storage.js')
  return openEtcdStorage({
    endpoints: servers,
    prefix,
    mark: identity.name,
    upgrade: upgradeFor(identity),
    tls,
    dial: dialTo(settings, 'etcd'),
    leaseReuseMs,
    ...(dataDir === undefined ? {} : { mirrorFolder: join(dataDir, 'mirror') }),
    clock: time.steady,
    ...options,
  })
}
