// Flags about admission: which plugins run, and how they are configured.

import { pluginNames } from '../../../admission/plugin-table.js'
import type { FlagDefinition } from '../flag.js'

export const admissionFlags = [
  {
    name: 'enable-admission-plugins',
    kind: 'choices',
    choices: pluginNames,
    effect: 'now',
    help: 'plugins to run beside those that run by default',
  },
  { name: 'disable-admission-plugins', kind: 'choices', choices: pluginNames, effect: 'now', help: 'plugins not to run' },
  {
    name: 'admission-control',
    kind: 'list',
    effect: 'now',
    refused: 'the order of plugins is fixed; use --enable-admission-plugins and --disable-admission-plugins',
    help: 'refused: the order of plugins is fixed',
  },
  { name: 'admission-control-config-file', kind: 'file', content: 'yaml', effect: 'now', help: 'configuration of the plugins' },
  {
    name: 'insecure-loopback-webhooks',
    kind: 'boolean',
    default: 'false',
    effect: 'now',
    help: 'for development: the url of an admission webhook may be http://127.0.0.1, http://[::1] or http://localhost, without TLS',
  },
  {
    name: 'recorded-admission-reviews',
    kind: 'integer',
    min: 0,
    max: 1000,
    default: '0',
    effect: 'now',
    help: 'for development: how many of the last reviews that webhooks were sent are kept, for /debug/admission/reviews and `admission replay`',
  },
  {
    name: 'default-not-ready-toleration-seconds',
    kind: 'integer',
    min: 0,
    default: '300',
    effect: 'now',
    help: 'how long pods tolerate a node that is not ready',
  },
  {
    name: 'default-unreachable-toleration-seconds',
    kind: 'integer',
    min: 0,
    default: '300',
    effect: 'now',
    help: 'how long pods tolerate a node that cannot be reached',
  },
] as const satisfies readonly FlagDefinition[]
