// A certificate and its key, which two flags name: both or none, and one belongs to the other.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import type { KeyPair } from '../../net/issue-certificate.js'
import type { CertificateFiles } from '../../net/reloading-certificate.js'
import { flagError } from './flag.js'
import type { FlagName, FlagValues } from './flag-table.js'
import type { SettingsInput } from './read-settings.js'

/** Flags whose value is a file. */
type FileFlag = { [F in FlagName]: FlagValues[F] extends string | undefined ? F : never }[FlagName]

export interface NamedPair {
  /** As it is now. */
  readonly pair: KeyPair
  /** With absolute paths, for whoever reads them again. */
  readonly files: CertificateFiles
}

export function readPair({ values, files }: SettingsInput, certFlag: FileFlag, keyFlag: FileFlag): NamedPair | undefined {
  const certFile: string | undefined = values[certFlag]
  const keyFile: string | undefined = values[keyFlag]
  if (certFile !== undefined && keyFile === undefined) throw flagError(certFlag, `needs --${keyFlag}, too`)
  if (keyFile !== undefined && certFile === undefined) throw flagError(keyFlag, `needs --${certFlag}, too`)
  if (certFile === undefined || keyFile === undefined) return undefined
  const pair = { cert: files.get(certFile) ?? '', key: files.get(keyFile) ?? '' }
  if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key)))
    throw flagError(keyFlag, `the key in ${keyFile} does not belong to the certificate in ${certFile}`)
  return { pair, files: { certFile: resolve(certFile), keyFile: resolve(keyFile) } }
}
