// The engine that the settings name, opened.

import { join } from 'node:path'
import type { Identity } from '../api/identity.js'
import { steadyClock } from '../base/clock.js'
import type { Logger } from '../base/logger.js'
import { firstFormatVersions } from '../objects/first-format-versions.js'
import { entryUpgrade } from '../objects/upgrade-entries.js'
import type { FormatUpgrade, Storage } from '../storage/storage.js'
import { FollowedFile } from './followed-file.js'
import { parseEncryptionConfig } from './options/read-encryption.js'
import type { EncryptionSettings, EtcdSettings, Settings } from './options/settings.js'
import { dialTo } from './outbound.js'
import { StartError } from './start-failure.js'

/** `signal` ends the wait for an etcd that cannot be reached. */
export async function openStorage(settings: Settings, logger: Logger, signal: AbortSignal | undefined): Promise<Storage> {
  const storage = await openEngine(settings, logger, signal)
  return settings.encryption === undefined ? storage : encrypting(storage, settings.encryption, { logger, identity: settings.identity })
}

/** What is encrypted and how follows the file where that is wanted, until the storage is closed. */
async function encrypting(
  storage: Storage,
  { path, text, rules, reloads }: EncryptionSettings,
  { logger, identity }: { readonly logger: Logger; readonly identity: Settings['identity'] },
): Promise<Storage> {
  const { EncryptedStorage } = await import('../storage/encryption/encrypted-storage.js')
  const file = { current: undefined as FollowedFile | undefined }
  const encrypted = new EncryptedStorage({ storage, rules, logger, onClose: () => file.current?.close() })
  const take = (changed: string): void => encrypted.setRules(parseEncryptionConfig(changed, identity))
  if (reloads) file.current = new FollowedFile({ path, text, take, logger })
  return encrypted
}

async function openEngine(settings: Settings, logger: Logger, signal: AbortSignal | undefined): Promise<Storage> {
  if (settings.etcd !== undefined) return openEtcd(settings, settings.etcd, { logger, ...(signal === undefined ? {} : { signal }) })
  if (settings.storage === 'memory') {
    const { openMemoryStorage } = await import('../storage/memory.js')
    return openMemoryStorage({ clock: steadyClock })
  }
  if (settings.dataDir === undefined) throw new StartError('--data-dir: a durable store needs a folder')
  const { openLmdbStorage } = await import('../storage/lmdb.js')
  return openLmdbStorage({
    folder: join(settings.dataDir, 'store'),
    mark: settings.identity.name,
    upgrade: upgradeFor(settings.identity),
    clock: steadyClock,
    logger,
  })
}

/** For what servers of an earlier version stored under an identity. */
export const upgradeFor = (identity: Identity): FormatUpgrade => entryUpgrade(firstFormatVersions(identity))

async function openEtcd(
  settings: Settings,
  { servers, prefix, tls, leaseReuseMs }: EtcdSettings,
  options: { readonly logger: Logger; readonly signal?: AbortSignal },
): Promise<Storage> {
  const { dataDir, identity } = settings
  const { openEtcdStorage } = await import('../storage/etcd.js')
  return openEtcdStorage({
    endpoints: servers,
    prefix,
    mark: identity.name,
    upgrade: upgradeFor(identity),
    tls,
    dial: dialTo(settings, 'etcd'),
    leaseReuseMs,
    ...(dataDir === undefined ? {} : { mirrorFolder: join(dataDir, 'mirror') }),
    clock: steadyClock,
    ...options,
  })
}
