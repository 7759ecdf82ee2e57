// Clusters and users of the client configuration: which there are, new ones, and gone ones.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadConfig } from '../../client/node/load-config.js'
import { type Command, defineCommand } from '../command.js'
import { changedFile, entryOf, readDocument, type Section, withEntry, writeDocument } from '../config-file.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'

const listing = (section: 'clusters' | 'users'): Command =>
  defineCommand({
    usage: `config get-${section}`,
    about: `show the ${section} of the configuration`,
    flags: {},
    run: async ({ flags, io }) => {
      const names = [...loadConfig({ file: flags.kubeconfig })[section].keys()]
      io.out(`NAME\n${names.map((name) => `${name}\n`).join('')}`)
      return 0
    },
  })

export const getClusters = listing('clusters')
export const getUsers = listing('users')

const deleting = (section: Section): Command =>
  defineCommand({
    usage: `config delete-${section.slice(0, -1)} NAME`,
    about: `remove a ${section.slice(0, -1)} from the configuration`,
    flags: {},
    run: async ({ args, flags, io }) => {
      const [name, ...more] = args
      if (name === undefined || more.length > 0) throw new UsageError(`name one ${section.slice(0, -1)}`)
      const file = changedFile(flags.kubeconfig)
      const document = readDocument(file)
      if (entryOf(document, section, name) === undefined) throw new Failure(`cannot delete ${section.slice(0, -1)} ${name}, not in ${file}`)
      writeDocument(file, withEntry(document, section, name, undefined))
      io.out(`deleted ${section.slice(0, -1)} ${name} from ${file}\n`)
      return 0
    },
  })

export const deleteCluster = deleting('clusters')
export const deleteUser = deleting('users')
export const deleteContext = deleting('contexts')

export const setCluster = defineCommand({
  usage:
    'config set-cluster NAME [--server=…] [--certificate-authority=…] [--embed-certs] [--insecure-skip-tls-verify] [--tls-server-name=…] [--proxy-url=…]',
  about: 'make or change a cluster of the configuration',
  flags: {
    'embed-certs': { kind: 'switch', help: 'with what is in the file, and not its path' },
    'proxy-url': { kind: 'text', help: 'through which proxy it is reached' },
  },
  run: async ({ args, flags, io }) => {
    const [name, ...more] = args
    if (name === undefined || more.length > 0) throw new UsageError('name one cluster')
    const file = changedFile(flags.kubeconfig)
    const document = readDocument(file)
    const authority = flags['certificate-authority']
    const { 'certificate-authority': _, 'certificate-authority-data': _1, ...kept } = entryOf(document, 'clusters', name) ?? {}
    const before = authority === undefined ? (entryOf(document, 'clusters', name) ?? {}) : kept
    const entry = {
      ...before,
      ...(flags.server === undefined ? {} : { server: flags.server }),
      ...(authority === undefined
        ? {}
        : flags['embed-certs']
          ? { 'certificate-authority-data': readFileSync(authority).toString('base64') }
          : { 'certificate-authority': resolve(authority) }),
      ...(flags['insecure-skip-tls-verify'] ? { 'insecure-skip-tls-verify': true } : {}),
      ...(flags['tls-server-name'] === undefined ? {} : { 'tls-server-name': flags['tls-server-name'] }),
      ...(flags['proxy-url'] === undefined ? {} : { 'proxy-url': flags['proxy-url'] }),
    }
    writeDocument(file, withEntry(document, 'clusters', name, entry))
    io.out(`Cluster "${name}" set.\n`)
    return 0
  },
})

export const setCredentials = defineCommand({
  usage:
    'config set-credentials NAME [--token=…] [--client-certificate=… --client-key=…] [--embed-certs] [--username=… --password=…] [--exec-command=… --exec-api-version=… --exec-arg=… --exec-env=KEY=VALUE]',
  about: 'make or change a user of the configuration',
  flags: {
    'embed-certs': { kind: 'switch', help: 'with what is in the files, and not their paths' },
    'exec-command': { kind: 'text', help: 'a program that gives credentials' },
    'exec-api-version': { kind: 'text', help: 'in which version it speaks' },
    'exec-arg': { kind: 'list', help: 'its arguments' },
    'exec-env': { kind: 'texts', help: 'its environment' },
  },
  run: async ({ args, flags, io }) => {
    const [name, ...more] = args
    if (name === undefined || more.length > 0) throw new UsageError('name one user')
    if (flags.token !== undefined && flags.username !== undefined)
      throw new UsageError('you cannot specify more than one authentication method at the same time: --token, --username/--password')
    const file = changedFile(flags.kubeconfig)
    const document = readDocument(file)
    const embedded = (flag: 'client-certificate' | 'client-key'): object => {
      const path = flags[flag]
      if (path === undefined) return {}
      return flags['embed-certs'] ? { [`${flag}-data`]: readFileSync(path).toString('base64') } : { [flag]: resolve(path) }
    }
    const exec =
      flags['exec-command'] === undefined
        ? {}
        : {
            exec: {
              apiVersion: flags['exec-api-version'],
              command: flags['exec-command'],
              args: flags['exec-arg'],
              env: flags['exec-env'].map((text) => ({ name: text.split('=')[0], value: text.slice(text.indexOf('=') + 1) })),
              interactiveMode: 'IfAvailable',
            },
          }
    const entry = {
      ...entryOf(document, 'users', name),
      ...(flags.token === undefined ? {} : { token: flags.token }),
      ...(flags.username === undefined ? {} : { username: flags.username }),
      ...(flags.password === undefined ? {} : { password: flags.password }),
      ...embedded('client-certificate'),
      ...embedded('client-key'),
      ...exec,
    }
    writeDocument(file, withEntry(document, 'users', name, entry))
    io.out(`User "${name}" set.\n`)
    return 0
  },
})
