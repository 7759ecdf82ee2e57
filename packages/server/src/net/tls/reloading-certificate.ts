// A certificate and key in two files, reloaded when they change. Invalid files are logged, and the previous pair is kept.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { KeyPair } from './issue-certificate.js'

export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
}

export interface ReloadOptions {
  readonly logger: Logger
  readonly onChange: (certificate: KeyPair) => void
  /** Name in log messages; default: `serving certificate`. */
  readonly certificateName?: string
  /** Polling interval: file events miss replaced links and mounts. */
  readonly pollMs?: number
}

/** Polls the files until `close`; does not keep the process alive. */
export class ReloadingCertificate {
  readonly #files: CertificateFiles
  readonly #options: ReloadOptions
  readonly #timer: NodeJS.Timeout
  #current: KeyPair
  /** Each error is logged once. */
  #lastError = ''

  /** Throws if the key does not match the certificate. */
  constructor(files: CertificateFiles, options: ReloadOptions) {
    this.#files = files
    this.#options = options
    this.#current = readKeyPair(files)
    this.#timer = setInterval(() => this.#poll(), options.pollMs ?? 5_000).unref()
  }

  get current(): KeyPair {
    return this.#current
  }

  #poll(): void {
    const { logger, onChange, certificateName = 'serving certificate' } = this.#options
    try {
      const next = readKeyPair(this.#files, this.#current)
      this.#lastError = ''
      if (next === this.#current) return
      onChange(next)
      this.#current = next
      logger.info({ file: this.#files.certFile }, `${certificateName} reloaded`)
    } catch (thrown) {
      const error = (thrown as Error).message
      // Expected for a moment, until both files are replaced.
      if (error !== this.#lastError)
        logger.warn({ file: this.#files.certFile, error }, `cannot reload ${certificateName}; the previous one stays in use`)
      this.#lastError = error
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** Returns `current` if nothing changed. */
function readKeyPair({ certFile, keyFile }: CertificateFiles, current?: KeyPair): KeyPair {
  const pair = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  if (current !== undefined && pair.cert === current.cert && pair.key === current.key) return current
  if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))) {
    throw new Error(`the key in ${keyFile} does not belong to the certificate in ${certFile}`)
  }
  return pair
}
