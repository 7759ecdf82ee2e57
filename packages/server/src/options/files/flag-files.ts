// The files that flags name: read once, and checked for being what the flag wants, so that a typing error shows at start and not later.

import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { readYaml } from '../../codec/yaml/read-yaml.js'
import { YamlError } from '../../codec/yaml/yaml-error.js'
import { parseTokenFile } from '../token-file.js'
import type { ReadText } from './file-texts.js'
import { type FileContent, type FlagDefinition, flagError } from './flag.js'
import { allFlags } from './flag-table.js'
import type { ParsedFlags } from './parse-flags.js'

/** Contents by path. Throws a FlagError for the first file that is not what its flag wants. */
export function readFlagFiles({ values, given }: ParsedFlags, readText: ReadText): ReadonlyMap<string, string> {
  const contents = new Map<string, string>()
  for (const flag of allFlags as readonly (FlagDefinition & { readonly name: keyof typeof values })[]) {
    if (!given.has(flag.name) || (flag.kind !== 'file' && flag.kind !== 'files') || flag.content === undefined) continue
    for (const path of [values[flag.name]].flat() as readonly string[]) {
      const text = readNamed(flag.name, path, readText)
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
  ENOENT: 'there is no such file',
  EACCES: 'reading it is not allowed',
  EISDIR: 'it is a folder',
  ENOTDIR: 'there is no such file',
}

function readNamed(flag: string, path: string, readText: ReadText): string {
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
}

interface PemBlock {
  readonly label: string
  readonly text: string
}

const pemBlocks = (text: string): readonly PemBlock[] =>
  [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g)].map(([block, label = '']) => ({ label, text: block }))

export function checkCertificates(text: string): void {
  const blocks = pemBlocks(text).filter((block) => block.label === 'CERTIFICATE')
  if (blocks.length === 0) throw new Error('it holds no PEM certificate')
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block.text)
    } catch {
      throw new Error(`its certificate number ${index + 1} is broken`)
    }
  }
}

function checkPrivateKey(text: string): void {
  if (!pemBlocks(text).some((block) => block.label.endsWith('PRIVATE KEY'))) throw new Error('it holds no PEM private key')
  try {
    createPrivateKey(text)
  } catch {
    throw new Error('its private key is broken or needs a passphrase')
  }
}

/** Public keys, or private keys and certificates whose public half is meant. */
function checkKeys(text: string): void {
  const blocks = pemBlocks(text).filter((block) => block.label.endsWith('KEY') || block.label === 'CERTIFICATE')
  if (blocks.length === 0) throw new Error('it holds no PEM key')
  for (const [index, block] of blocks.entries()) {
    try {
      createPublicKey(block.text)
    } catch {
      throw new Error(`its key number ${index + 1} is broken`)
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
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is not a YAML mapping')
  return value as Fields
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
  if (!servers.some((server) => typeof server === 'string' && server !== '')) throw new Error('it names no server to reach')
}

/** One JSON object a line; empty lines and lines that begin with # are left out. */
function checkJsonLines(text: string): void {
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    try {
      const value: unknown = JSON.parse(line)
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) continue
    } catch {
      // The sentence below says it.
    }
    throw new Error(`line ${index + 1} is not a JSON object`)
  }
}
