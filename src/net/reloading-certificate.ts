// A serving certificate in two files that somebody else renews: read again when they change, kept as it was while they are wrong.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import type { Logger } from '../base/logger.js'
import type { KeyPair } from './issue-certificate.js'

export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
}

export interface ReloadOptions {
  readonly logger: Logger
  readonly onChange: (certificate: KeyPair) => void
  /** How often the files are looked at. Looking is easier to get right than being told: files are replaced, linked and mounted. */
  readonly everyMs?: number
}

/** Watches from its making to `close`, and keeps no process alive. */
export class ReloadingCertificate {
  readonly #files: CertificateFiles
  readonly #options: ReloadOptions
  readonly #look = (): void => this.#reload()
  #current: KeyPair

  /** Throws one sentence when the files are not a pair now. */
  constructor(files: CertificateFiles, options: ReloadOptions) {
    this.#files = files
    this.#options = options
    this.#current = readKeyPair(files)
    const interval = options.everyMs ?? 5_000
    for (const path of [files.certFile, files.keyFile]) watchFile(path, { interval, persistent: false }, this.#look)
  }

  get current(): KeyPair {
    return this.#current
  }

  #reload(): void {
    const { logger, onChange } = this.#options
    try {
      const next = readKeyPair(this.#files)
      if (next.cert === this.#current.cert && next.key === this.#current.key) return
      onChange(next)
      this.#current = next
      logger.info({ file: this.#files.certFile }, 'serving certificate read again')
    } catch (error) {
      // Between the replacement of one file and of the other this is normal; the second one is looked at, too.
      logger.warn({ error: (error as Error).message }, 'serving certificate changed but cannot be used; the former one stays')
    }
  }

  close(): void {
    for (const path of [this.#files.certFile, this.#files.keyFile]) unwatchFile(path, this.#look)
  }
}

function readKeyPair({ certFile, keyFile }: CertificateFiles): KeyPair {
  const pair = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))) {
    throw new Error(`the key in ${keyFile} does not belong to the certificate in ${certFile}`)
  }
  return pair
}
