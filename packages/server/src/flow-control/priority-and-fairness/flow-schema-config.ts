// The objects that say who is served when there is not room for all, as far as requests are classified by them.

export interface FlowSubject {
  readonly kind?: string | undefined
  readonly user?: { readonly name?: string | undefined } | undefined
  readonly group?: { readonly name?: string | undefined } | undefined
  readonly serviceAccount?: { readonly namespace?: string | undefined; readonly name?: string | undefined } | undefined
}

export interface FlowRule {
  readonly subjects?: readonly FlowSubject[] | undefined
  readonly resourceRules?:
    | readonly {
        readonly verbs?: readonly string[] | undefined
        readonly apiGroups?: readonly string[] | undefined
        readonly resources?: readonly string[] | undefined
        readonly clusterScope?: boolean | undefined
        readonly namespaces?: readonly string[] | undefined
      }[]
    | undefined
  readonly nonResourceRules?:
    | readonly { readonly verbs?: readonly string[] | undefined; readonly nonResourceURLs?: readonly string[] | undefined }[]
    | undefined
}

export interface FlowSchemaObject {
  readonly name: string
  readonly uid: string
  /** The name of its priority level. */
  readonly level: string
  readonly precedence: number
  readonly distinguisher: 'ByUser' | 'ByNamespace' | undefined
  readonly rules: readonly FlowRule[]
}

export interface PriorityLevelObject {
  readonly name: string
  readonly uid: string
  /** Undefined: its requests are not limited. */
  readonly limited: LimitedLevel | undefined
}

export interface LimitedLevel {
  readonly shares: number
  readonly lendablePercent: number
  /** Undefined: as much as there is. */
  readonly borrowingLimitPercent: number | undefined
  /** Undefined: what does not fit is refused. */
  readonly queuing: Queuing | undefined
}

export interface Queuing {
  readonly queues: number
  readonly handSize: number
  readonly queueLengthLimit: number
}
