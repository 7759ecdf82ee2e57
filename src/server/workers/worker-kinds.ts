// The kinds in a worker thread: built-in kinds are code, custom kinds are made from the CustomResourceDefinition in a task.

import type { RuleSettings } from '../../api/call.js'
import { Catalog, type Resource } from '../../api/catalog.js'
import { parseFeatureGates } from '../../api/feature-gates.js'
import { identityOf } from '../../api/identity.js'
import { parseRuntimeConfig } from '../../api/runtime-config.js'
import { customKind } from '../../resources/apiextensions/custom/custom-kind.js'
import type { CustomResourceDefinition } from '../../resources/apiextensions/v1.schema.js'
import { servedCatalog } from '../served-catalog.js'
import { type RequestContext, unpack, type WorkerSettings } from './tasks.js'

const maxCustomKinds = 50

export class WorkerKinds {
  readonly rules: RuleSettings
  readonly #own: Catalog
  /** By the id of their source, the one used last at the end. */
  readonly #custom = new Map<number, Catalog>()

  constructor({ identity: name, featureGates, runtimeConfig, forbidsPrivileged, allowsPlainHooks }: WorkerSettings) {
    const identity = identityOf(name)
    const gates = parseFeatureGates(featureGates)
    this.rules = { identity, gates, forbidsPrivileged, allowsPlainHooks }
    this.#own = servedCatalog({ identity, gates, runtimeConfig: parseRuntimeConfig(runtimeConfig) }).current
  }

  find({ group, version, resource, custom }: RequestContext): Resource {
    const found = (custom === undefined ? this.#own : this.#customCatalog(custom)).find(group, version, resource)
    if (found === undefined) throw new Error(`the worker thread does not know ${resource} of ${group}/${version}`)
    return found
  }

  #customCatalog({ id, source }: NonNullable<RequestContext['custom']>): Catalog {
    const catalog = this.#custom.get(id) ?? this.#make(unpack<CustomResourceDefinition>(source))
    this.#custom.delete(id)
    this.#custom.set(id, catalog)
    const [oldest] = this.#custom.keys()
    if (this.#custom.size > maxCustomKinds && oldest !== undefined) this.#custom.delete(oldest)
    return catalog
  }

  /** Webhooks convert on the event loop: a step that lacks a conversion fails with an UnconvertedError and is run again with it. */
  #make(definition: CustomResourceDefinition): Catalog {
    const isConverted = definition.spec?.conversion?.strategy === 'Webhook'
    const convert = isConverted ? () => Promise.reject(new Error('a worker thread does not call webhooks')) : undefined
    return new Catalog({ identity: this.rules.identity, definitions: [customKind(definition, convert)], isServed: () => true })
  }
}
