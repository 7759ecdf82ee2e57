// The certificate that the server shows: that of the operator's files, which may change, or one of its own making for whoever brought none.

import { systemClock } from '../base/clock.js'
import type { Logger } from '../base/logger.js'
import type { KeyPair } from '../net/issue-certificate.js'
import { ReloadingCertificate } from '../net/reloading-certificate.js'
import { ensureAuthority, ensureServingCertificate, pkiFolder, type ServingCertificate, servingHosts } from './certificates.js'
import type { Settings } from './options/settings.js'
import type { WriteFile } from './private-files.js'

export interface ChangingCertificate extends ServingCertificate {
  /** By what clients know it now; `caPem` is what they knew it by at the start. */
  readonly rootPem: string
  /** Tells of what was read when the files changed, until the function that it returns is called. */
  onChange(listener: (pair: KeyPair) => void): () => void
  close(): void
}

export async function servingCertificate(
  { identity, dataDir, bindAddress, tls, serving }: Settings,
  logger: Logger,
  write: WriteFile,
): Promise<ChangingCertificate> {
  const needs = {
    folder: serving.certDir ?? (dataDir === undefined ? undefined : pkiFolder(dataDir)),
    hosts: [...servingHosts(identity, bindAddress), ...(serving.externalHostname === undefined ? [] : [serving.externalHostname])],
    commonName: identity.prefixed('apiserver'),
    now: systemClock.now(),
    write,
  }
  if (tls.files === undefined) {
    const own = await ensureServingCertificate(needs)
    return { ...own, rootPem: own.caPem, onChange: () => () => undefined, close: () => undefined }
  }
  const authority = await ensureAuthority(needs)
  const listeners = new Set<(pair: KeyPair) => void>()
  const reloading = new ReloadingCertificate(tls.files, {
    logger,
    onChange: (pair) => {
      for (const listener of listeners) listener(pair)
    },
  })
  return {
    ...reloading.current,
    caPem: reloading.current.cert,
    authority,
    get rootPem() {
      return reloading.current.cert
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => reloading.close(),
  }
}
