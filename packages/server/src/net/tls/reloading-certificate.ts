// A certificate in two files that somebody else renews: read again when they change, kept as it was while they are wrong.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Logger } from '../base/logger.js'
import type { KeyPair } from './issue-certificate.js'

export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
}

export interface ReloadOptions {
  readonly logger: Logger
  readonly onChange: (certificate: KeyPair) => void
  /** How the log calls it; `serving certificate` if left out. */
  readonly what?: string
  /** How often the files are read. Reading is easier to get right than being told: files are replaced, linked and mounted. */
  readonly everyMs?: number
}

/** Looks at the files from its making to `close`, and keeps no process alive. */
export class ReloadingCertificate {
  readonly #files: CertificateFiles
  readonly #options: ReloadOptions
  readonly #timer: NodeJS.Timeout
  #current: KeyPair
  /** Why they could not be used at the last look: told once, and not at every look. */
  #problem = ''

  /** Throws one sentence when the files are not a pair now. */
  constructor(files: CertificateFiles, options: ReloadOptions) {
    this.#files = files
    this.#options = options
    this.#current = readKeyPair(files)
    this.#timer = setInterval(() => this.#look(), options.everyMs ?? 5_000).unref()
  }

  get current(): KeyPair {
    return this.#current
  }

  #look(): void {
    const { logger, onChange, what = 'serving certificate' } = this.#options
    try {
      const next = readKeyPair(this.#files, this.#current)
      this.#problem = ''
      if (next === this.#current) return
      onChange(next)
      this.#current = next
      logger.info({ file: this.#files.certFile }, `${what} reloaded`)
    } catch (thrown) {
      const error = (thrown as Error).message
      // Between the replacement of one file and of the other this is normal; there will be another look.
      if (error !== this.#problem) logger.warn({ error }, `cannot reload ${what}; keeping the previous one`)
      this.#problem = error
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** What is in the files; the known pair when that is the same. */
function readKeyPair({ certFile, keyFile }: CertificateFiles, known?: KeyPair): KeyPair {
  const pair = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  if (known !== undefined && pair.cert === known.cert && pair.key === known.key) return known
  if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))) {
    throw new Error(`the key in ${keyFile} does not belong to the certificate in ${certFile}`)
  }
  return pair
}
