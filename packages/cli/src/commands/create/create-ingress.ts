// Creates an ingress from rules of one line each.

import { defineCommand } from '../command.js'
import { createFlags, createOne, nameIn, numberOrText, pairsIn } from '../create-one.js'
import { UsageError } from '../flags.js'

export const command = defineCommand({
  usage: 'create ingress NAME --rule=HOST/PATH=SERVICE:PORT[,tls[=SECRET]] [--default-backend=SERVICE:PORT] [--class=CLASS]',
  about: 'create an ingress',
  examples: ['create ingress shop --rule="shop.example.com/*=web:80,tls=shop-certificate"'],
  flags: {
    ...createFlags,
    rule: {
      kind: 'texts',
      help: 'what goes where: HOST/PATH=SERVICE:PORT, with ,tls=SECRET behind it; a path with * at its end is a prefix',
    },
    'default-backend': { kind: 'text', help: 'where all the rest goes: SERVICE:PORT' },
    class: { kind: 'text', help: 'the class of ingresses' },
    annotation: { kind: 'texts', help: 'an annotation: a=b' },
  },
  run: async (work) => {
    const { flags, args, session } = work
    const name = nameIn(args)
    const { rule: texts, annotation, class: className, 'default-backend': rest } = flags
    if (texts.length === 0 && rest === undefined)
      throw new UsageError(
        'not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) or a list of rules (which catch specific paths)',
      )
    const rules = texts.map(ruleOf)
    const spec = {
      ...(rest === undefined
        ? {}
        : { defaultBackend: backendOf(rest, `default-backend ${rest} is invalid and should be in format svcname:svcport`) }),
      ...(className === undefined ? {} : { ingressClassName: className }),
      ...(rules.length === 0 ? {} : { rules: byHost(rules) }),
      ...certificatesOf(rules),
    }
    const metadata = { name, ...(annotation.length === 0 ? {} : { annotations: pairsIn('annotation', annotation) }) }
    const group = (await session.resources.identity()).group({ stem: 'networking' })
    return createOne({ apiVersion: `${group}/v1`, kind: 'Ingress', metadata, spec }, work)
  },
})

interface Rule {
  readonly host: string
  readonly path: object
  /** The secret with the certificate; empty: the one of the controller. Undefined: none. */
  readonly secret: string | undefined
}

function ruleOf(text: string): Rule {
  const complaint = `rule ${text} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]`
  const equals = text.indexOf('=')
  const slash = text.indexOf('/')
  if (equals < 0 || slash < 0 || slash > equals) throw new UsageError(complaint)
  const [target = '', tls, ...more] = text.slice(equals + 1).split(',')
  if (more.length > 0 || (tls !== undefined && tls !== 'tls' && !/^tls=./.test(tls))) throw new UsageError(complaint)
  const path = text.slice(slash, equals)
  const isPrefix = path.endsWith('*')
  return {
    host: text.slice(0, slash),
    path: { backend: backendOf(target, complaint), path: isPrefix ? path.slice(0, -1) : path, pathType: isPrefix ? 'Prefix' : 'Exact' },
    secret: tls === undefined ? undefined : tls.slice('tls='.length),
  }
}

function backendOf(text: string, complaint: string): object {
  const [name = '', port = '', ...more] = text.split(':')
  if (name === '' || port === '' || more.length > 0) throw new UsageError(complaint)
  const number = numberOrText(port)
  return { service: { name, port: typeof number === 'number' ? { number } : { name: port } } }
}

function byHost(rules: readonly Rule[]): readonly object[] {
  const paths = new Map<string, object[]>()
  for (const { host, path } of rules) paths.set(host, [...(paths.get(host) ?? []), path])
  return [...paths].map(([host, all]) => ({ ...(host === '' ? {} : { host }), http: { paths: all } }))
}

function certificatesOf(rules: readonly Rule[]): object {
  const hosts = new Map<string, Set<string>>()
  for (const { host, secret } of rules) if (secret !== undefined) hosts.set(secret, (hosts.get(secret) ?? new Set()).add(host))
  if (hosts.size === 0) return {}
  return {
    tls: [...hosts].map(([secretName, names]) => ({
      ...([...names].join() === '' ? {} : { hosts: [...names].filter((name) => name !== '') }),
      ...(secretName === '' ? {} : { secretName }),
    })),
  }
}
