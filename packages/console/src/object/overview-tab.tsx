// The overview of an object: metadata, conditions, owners, and its events.

import type { DynamicObject } from '@cluster-apiserver/client/browser.js'
import type { ComponentChildren } from 'preact'
import { useSession } from '../session/session-context.js'
import { objectRoute } from '../shell/route.js'
import { ageText, cellText, countText } from '../ui/format.js'
import { PlainTable } from '../ui/plain-table.js'
import { shortened } from '../ui/visible-text.js'
import { Events } from './events.js'
import type { ObjectContext } from './object-context.js'

const maxPairs = 50
const maxCharacters = 200

export const OverviewTab = (context: ObjectContext) => (
  <div class="overview">
    <div>
      <Metadata {...context} />
      <Conditions object={context.object} />
    </div>
    <Events object={context.object} namespace={context.namespace} />
  </div>
)

function Metadata({ object }: ObjectContext) {
  const { metadata = {} } = object
  const created = Date.parse(String(metadata.creationTimestamp ?? ''))
  return (
    <dl class="facts">
      <Fact title="Created">
        {Number.isFinite(created) && `${ageText(created, Date.now())} ago · ${String(metadata.creationTimestamp)}`}
      </Fact>
      <Fact title="Deletion">{metadata.deletionTimestamp && `since ${String(metadata.deletionTimestamp)}`}</Fact>
      <Fact title="Finalizers">{shortened((metadata.finalizers ?? []).join(', '), maxCharacters)}</Fact>
      <Fact title="Owners">
        {metadata.ownerReferences?.slice(0, maxPairs).map((owner) => (
          <OwnerLink key={owner.uid} {...owner} namespace={metadata.namespace} />
        ))}
      </Fact>
      <Pairs title="Labels" members={metadata.labels} />
      <Pairs title="Annotations" members={metadata.annotations} />
      <Fact title="UID">{metadata.uid}</Fact>
    </dl>
  )
}

/** Nothing if there is no content. */
const Fact = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) =>
  children && (
    <>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </>
  )

interface OwnerLinkProps {
  readonly apiVersion?: string
  readonly kind?: string
  readonly name?: string
  readonly namespace: string | undefined
}

function OwnerLink({ apiVersion = '', kind = '', name = '', namespace }: OwnerLinkProps) {
  const resource = useSession().resources.find(
    (each) => each.kind === kind && `${each.group === '' ? '' : `${each.group}/`}${each.version}` === apiVersion,
  )
  const text = `${kind} ${name}`
  return resource === undefined ? (
    <span>{text}</span>
  ) : (
    <a href={objectRoute(resource, resource.namespaced ? namespace : undefined, name)}>{text}</a>
  )
}

interface PairsProps {
  readonly title: string
  readonly members: { readonly [name: string]: string } | undefined
}

function Pairs({ title, members }: PairsProps) {
  const entries = Object.entries(members ?? {})
  if (entries.length === 0) return null
  const left = entries.length - maxPairs
  return (
    <>
      <dt>{title}</dt>
      <dd class="pairs">
        {entries.slice(0, maxPairs).map(([name, value]) => (
          <span class="pair" key={name}>
            <b>{shortened(name, maxCharacters)}</b> {shortened(String(value), maxCharacters)}
          </span>
        ))}
        {left > 0 && <span>and {countText(left)} more</span>}
      </dd>
    </>
  )
}

/** Status of custom kinds may be any text, and must not choose the style. */
const truthClasses: ReadonlyMap<unknown, string> = new Map(
  ['True', 'False', 'Unknown'].map((status) => [status, `truth ${status.toLowerCase()}`]),
)

const cellOf = (value: unknown): string => shortened(cellText(value), maxCharacters)

interface Condition {
  readonly type?: unknown
  readonly status?: unknown
  readonly reason?: unknown
  readonly message?: unknown
  readonly lastTransitionTime?: unknown
}

function Conditions({ object }: { readonly object: DynamicObject }) {
  const found = (object['status'] as { readonly conditions?: unknown } | null | undefined)?.conditions
  const conditions = (Array.isArray(found) ? found : []) as readonly (Condition | null)[]
  return (
    <section>
      <h2>Conditions</h2>
      {conditions.length === 0 ? (
        <p class="empty">No conditions.</p>
      ) : (
        <PlainTable titles={['Type', 'Status', 'Reason', 'Message', 'Changed']}>
          {conditions.slice(0, maxPairs).map((condition, i) => {
            const { type, status, reason, message, lastTransitionTime } = condition ?? {}
            return (
              <tr key={i}>
                <td>{cellOf(type)}</td>
                <td class={truthClasses.get(status) ?? 'truth'}>{cellOf(status)}</td>
                <td>{cellOf(reason)}</td>
                <td>{cellOf(message)}</td>
                <td>{ageText(Date.parse(cellText(lastTransitionTime)), Date.now())}</td>
              </tr>
            )
          })}
        </PlainTable>
      )}
    </section>
  )
}
