// Reads and validates the files that flags name, so that errors are reported at the start.

import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { YamlError } from '@cluster-apiserver/api/codec/yaml/yaml-error.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import type { KeyPair } from '../../net/tls/issue-certificate.js'
import type { CertificateFiles } from '../../net/tls/reloading-certificate.js'
import { type FileContent, type FlagDefinition, flagError } from '../flags/flag.js'
import { allFlags, type FlagName, type FlagValues } from '../flags/flag-table.js'
import type { ParsedFlags } from '../flags/parse-flags.js'
import type { ReadText, SettingsInput } from '../settings-input.js'
import { parseTokenFile } from './static-token-file.js'

/** Contents by path. Throws a FlagError for the first invalid file. */
export function readFlagFiles({ values, given }: ParsedFlags, readText: ReadText): ReadonlyMap<string, string> {
  const contents = new Map<string, string>()
  for (const flag of allFlags as readonly (FlagDefinition & { readonly name: keyof typeof values })[]) {
    if (!given.has(flag.name) || (flag.kind !== 'file' && flag.kind !== 'files') || flag.content === undefined) continue
    for (const path of [values[flag.name]].flat() as readonly string[]) {
      const text = readFlagFile(flag.name, path, readText)
      try {
        checks[flag.content](text)
      } catch (error) {
        throw flagError(flag.name, `${path}: ${(error as Error).message}`)
      }
      contents.set(path, text)
    }
  }
  return contents
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: 'the file does not exist',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
  ENOTDIR: 'the file does not exist',
}

function readFlagFile(flag: string, path: string, readText: ReadText): string {
  try {
    return readText(path)
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    throw flagError(flag, `cannot read ${path}: ${reasons[code] ?? message}`)
  }
}

const checks: { readonly [C in FileContent]: (text: string) => unknown } = {
  certificates: checkCertificates,
  'private-key': checkPrivateKey,
  keys: checkKeys,
  'client-configuration': checkClientConfiguration,
  yaml: checkKind,
  'json-lines': checkJsonLines,
  tokens: parseTokenFile,
  secret: checkSecret,
}

interface PemBlock {
  readonly label: string
  readonly text: string
}

const pemBlocks = (text: string): readonly PemBlock[] =>
  [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g)].map(([block, label = '']) => ({ label, text: block }))

export function checkCertificates(text: string): void {
  const blocks = pemBlocks(text).filter((block) => block.label === 'CERTIFICATE')
  if (blocks.length === 0) throw new Error('it has no PEM certificate')
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block.text)
    } catch {
      throw new Error(`certificate ${index + 1} is invalid`)
    }
  }
}

function checkPrivateKey(text: string): void {
  if (!pemBlocks(text).some((block) => block.label.endsWith('PRIVATE KEY'))) throw new Error('it has no PEM private key')
  try {
    createPrivateKey(text)
  } catch {
    throw new Error('the private key is invalid or needs a passphrase')
  }
}

/** Accepts public keys, private keys and certificates. */
function checkKeys(text: string): void {
  const blocks = pemBlocks(text).filter((block) => block.label.endsWith('KEY') || block.label === 'CERTIFICATE')
  if (blocks.length === 0) throw new Error('it has no PEM key')
  for (const [index, block] of blocks.entries()) {
    try {
      createPublicKey(block.text)
    } catch {
      throw new Error(`key ${index + 1} is invalid`)
    }
  }
}

function parseYaml(text: string): unknown {
  try {
    return readYaml(text).value
  } catch (thrown) {
    if (thrown instanceof YamlError) throw new Error(`it is not YAML: ${thrown.message}`)
    throw thrown
  }
}

type Fields = { readonly [name: string]: unknown }

function readMapping(text: string): Fields {
  const value = parseYaml(text)
  if (!isRecord(value)) throw new Error('it is not a YAML mapping')
  return value
}

function checkKind(text: string): void {
  const { kind, apiVersion } = readMapping(text)
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') throw new Error('it has no apiVersion and kind')
}

function checkClientConfiguration(text: string): void {
  const { kind, clusters } = readMapping(text)
  if (kind !== undefined && kind !== 'Config') throw new Error(`it is of kind ${JSON.stringify(kind)} and not of kind "Config"`)
  const servers = Array.isArray(clusters)
    ? clusters.map((entry: Fields | null) => (entry?.['cluster'] as Fields | undefined)?.['server'])
    : []
  if (!servers.some((server) => typeof server === 'string' && server !== '')) throw new Error('it has no server')
}

/** One JSON object per line; skips empty lines and comments. */
function checkJsonLines(text: string): void {
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    try {
      if (isRecord(JSON.parse(line))) continue
    } catch {
      // Reported below.
    }
    throw new Error(`line ${index + 1} is not a JSON object`)
  }
}

const minSecretCharacters = 32

/** One line that can be sent in an Authorization header, and not guessed. */
function checkSecret(text: string): void {
  if (!/^[!-~]+$/.test(text.trim())) throw new Error('it must have one line of printable ASCII characters without spaces')
  if (text.trim().length < minSecretCharacters) throw new Error(`it must have at least ${minSecretCharacters} characters`)
}

type FileFlag = { [F in FlagName]: FlagValues[F] extends string | undefined ? F : never }[FlagName]

interface FilePair {
  readonly pair: KeyPair
  /** Absolute paths, to be read again. */
  readonly files: CertificateFiles
}

export function readPair({ values, files }: SettingsInput, certFlag: FileFlag, keyFlag: FileFlag): FilePair | undefined {
  const certFile: string | undefined = values[certFlag]
  const keyFile: string | undefined = values[keyFlag]
  if (certFile !== undefined && keyFile === undefined) throw flagError(certFlag, `needs --${keyFlag}`)
  if (keyFile !== undefined && certFile === undefined) throw flagError(keyFlag, `needs --${certFlag}`)
  if (certFile === undefined || keyFile === undefined) return undefined
  const pair = { cert: files.get(certFile) ?? '', key: files.get(keyFile) ?? '' }
  if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key)))
    throw flagError(keyFlag, `the key in ${keyFile} does not belong to the certificate in ${certFile}`)
  return { pair, files: { certFile: resolve(certFile), keyFile: resolve(keyFile) } }
}
