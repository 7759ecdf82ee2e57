// `create secret` (generic, tls, docker-registry) and `create configmap`.

import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { type FlagTable, UsageError } from '../../command-line/flags.js'
import { createAndPrint, createFlags, nameArgument, requireFlag } from '../../objects/create-object.js'
import { goJson } from '../../output/documents.js'

const keyValueFlags = {
  'from-literal': { kind: 'texts', help: 'KEY=VALUE' },
  'from-file': { kind: 'list', help: 'file as [KEY=]PATH, or folder' },
  'from-env-file': { kind: 'list', help: 'file with KEY=VALUE lines' },
} as const satisfies FlagTable

const hashFlags = {
  'append-hash': { kind: 'switch', help: 'append a hash of the content to the name' },
} as const satisfies FlagTable

export const createSecret = defineCommand({
  usage: 'create secret generic NAME [--from-literal=KEY=VALUE] [--from-file=[KEY=]PATH] [--type=TYPE]',
  examples: ['create secret generic login --from-literal=password=…'],
  flags: { ...createFlags, ...keyValueFlags, ...hashFlags, type: { kind: 'text', help: 'type of the secret' } },
  run: async (context) => {
    const { flags, args } = context
    const data = base64Values(readKeyValues(flags))
    const type = flags.type === undefined ? {} : { type: flags.type }
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: nameArgument(args) }, ...type, data }
    return createAndPrint(withHash(object, flags['append-hash']), context)
  },
})

export const createTlsSecret = defineCommand({
  usage: 'create secret tls NAME --cert=FILE --key=FILE',
  examples: ['create secret tls web --cert=web.crt --key=web.key'],
  flags: {
    ...createFlags,
    ...hashFlags,
    cert: { kind: 'text', help: 'certificate file' },
    key: { kind: 'text', help: 'key file' },
  },
  run: async (context) => {
    const { flags, args, session } = context
    const certificate = readFileSync(requireFlag('cert', flags.cert))
    const key = readFileSync(requireFlag('key', flags.key))
    checkKeyPair(certificate, key)
    const data = base64Values(
      new Map([
        ['tls.crt', certificate],
        ['tls.key', key],
      ]),
    )
    const type = (await session.resources.identity()).label('tls')
    return createAndPrint(
      withHash({ apiVersion: 'v1', kind: 'Secret', metadata: { name: nameArgument(args) }, type, data }, flags['append-hash']),
      context,
    )
  },
})

function checkKeyPair(certificate: Buffer, key: Buffer): void {
  let isPair: boolean
  try {
    isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
  } catch (thrown) {
    throw new CommandError(`cannot read the certificate or key: ${errorMessage(thrown)}`)
  }
  if (!isPair) throw new CommandError('tls: private key does not match public key')
}

export const createRegistrySecret = defineCommand({
  usage:
    'create secret docker-registry NAME (--docker-username=… --docker-password=… | --from-file=.dockerconfigjson=PATH) [--docker-server=…]',
  examples: ['create secret docker-registry images --docker-server=registry.example.com --docker-username=… --docker-password=…'],
  flags: {
    ...createFlags,
    ...hashFlags,
    'docker-server': { kind: 'text', initial: 'https://index.docker.io/v1/', help: 'registry server' },
    'docker-username': { kind: 'text', help: 'user name' },
    'docker-password': { kind: 'text', help: 'password' },
    'docker-email': { kind: 'text', help: 'email address' },
    'from-file': keyValueFlags['from-file'],
  },
  run: async (context) => {
    const { flags, args, session } = context
    const {
      'docker-server': server = '',
      'docker-username': username = '',
      'docker-password': password = '',
      'docker-email': email,
    } = flags
    const files = flags['from-file']
    if (files.length === 0 && (username === '' || password === '' || server === ''))
      throw new UsageError('either --from-file or the combination of --docker-username, --docker-password and --docker-server is required')
    const auth = Buffer.from(`${username}:${password}`).toString('base64')
    const entry = { username, password, ...(email === undefined ? {} : { email }), auth }
    const values =
      files.length > 0
        ? readKeyValues({ 'from-literal': [], 'from-env-file': [], 'from-file': files })
        : new Map([['.dockerconfigjson', Buffer.from(JSON.stringify({ auths: { [server]: entry } }))]])
    const type = (await session.resources.identity()).label('dockerconfigjson')
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: nameArgument(args) }, type, data: base64Values(values) }
    return createAndPrint(withHash(object, flags['append-hash']), context)
  },
})

export const createConfigMap = defineCommand({
  usage: 'create configmap NAME [--from-literal=KEY=VALUE] [--from-file=[KEY=]PATH]',
  examples: ['create configmap prices --from-literal=apple=3', 'create configmap pages --from-file=html/'],
  flags: { ...createFlags, ...keyValueFlags, ...hashFlags },
  run: async (context) => {
    const name = nameArgument(context.args)
    const values = [...readKeyValues(context.flags)]
    const data = values.filter(([, bytes]) => isText(bytes)).map(([key, bytes]) => [key, bytes.toString('utf8')])
    const binary = values.filter(([, bytes]) => !isText(bytes)).map(([key, bytes]) => [key, bytes.toString('base64')])
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      ...(data.length === 0 ? {} : { data: Object.fromEntries(data) as object }),
      ...(binary.length === 0 ? {} : { binaryData: Object.fromEntries(binary) as object }),
    }
    return createAndPrint(withHash(object, context.flags['append-hash']), context)
  },
})

interface KeyValueFlags {
  readonly 'from-literal': readonly string[]
  readonly 'from-file': readonly string[]
  readonly 'from-env-file': readonly string[]
}

function readKeyValues(flags: KeyValueFlags): ReadonlyMap<string, Buffer> {
  const values = new Map<string, Buffer>()
  const add = (key: string, value: Buffer): void => {
    if (values.has(key)) throw new CommandError(`cannot add key "${key}", another key by that name already exists`)
    values.set(key, value)
  }
  for (const text of flags['from-literal']) {
    const equals = text.indexOf('=')
    if (equals <= 0) throw new UsageError(`invalid literal source ${text}, expected key=value`)
    add(text.slice(0, equals), Buffer.from(text.slice(equals + 1)))
  }
  for (const text of flags['from-file']) {
    const equals = text.indexOf('=')
    if (equals !== text.lastIndexOf('=')) throw new UsageError("key names or file paths cannot contain '='")
    const path = equals < 0 ? text : text.slice(equals + 1)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) throw new CommandError(`error reading ${path}: no such file or directory`)
    if (!stat.isDirectory()) add(equals < 0 ? basename(path) : text.slice(0, equals), readFileSync(path))
    else if (equals >= 0) throw new CommandError('cannot give a key name for a directory path')
    else
      for (const entry of readdirSync(path, { withFileTypes: true }))
        if (entry.isFile()) add(entry.name, readFileSync(join(path, entry.name)))
  }
  if (flags['from-env-file'].length > 0 && flags['from-literal'].length + flags['from-file'].length > 0)
    throw new UsageError('from-env-file cannot be combined with from-file or from-literal')
  for (const path of flags['from-env-file']) {
    // Files from Windows may have a byte order mark and CRLF.
    for (const text of readFileSync(path, 'utf8')
      .replace(/^\uFEFF/, '')
      .split(/\r?\n/)) {
      const line = text.trimStart()
      const equals = line.indexOf('=')
      if (line === '' || line.startsWith('#')) continue
      add(
        equals < 0 ? line.trim() : line.slice(0, equals).trim(),
        Buffer.from(equals < 0 ? (process.env[line.trim()] ?? '') : line.slice(equals + 1)),
      )
    }
  }
  return values
}

const base64Values = (values: ReadonlyMap<string, Buffer>): { readonly [key: string]: string } =>
  Object.fromEntries([...values].map(([key, bytes]) => [key, bytes.toString('base64')]))

const isText = (bytes: Buffer): boolean => Buffer.from(bytes.toString('utf8')).equals(bytes)

/** Replacements of hexadecimal digits, as in kubectl, so that hashes spell no words. */
const hashCharacters: { readonly [digit: string]: string } = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' }

function withHash(object: DynamicObject, isEnabled: boolean): DynamicObject {
  if (!isEnabled) return object
  const { kind = '', metadata = {}, data, binaryData, type = '' } = object
  const hashedFields =
    kind === 'Secret'
      ? { data: data ?? {}, kind, name: metadata.name, type }
      : { ...(binaryData === undefined ? {} : { binaryData }), data: data ?? '', kind, name: metadata.name }
  const digest = createHash('sha256').update(goJson(hashedFields)).digest('hex').slice(0, 10)
  return {
    ...object,
    metadata: { ...metadata, name: `${metadata.name}-${digest.replaceAll(/[013ae]/g, (digit) => hashCharacters[digit] as string)}` },
  }
}
