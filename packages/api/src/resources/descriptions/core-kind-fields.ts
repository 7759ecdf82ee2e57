// OpenAPI descriptions of fields of ServiceAccount, TokenRequest, Endpoints, dynamic resource allocation, references and node selectors.

export const coreKindFields: { readonly [type: string]: { readonly [field: string]: string } } = {
  ServiceAccount: {
    secrets: 'Names of secrets that pods of this account may use.',
    imagePullSecrets: 'Secrets for pulling images of pods of this account.',
    automountServiceAccountToken: 'Whether pods of this account get its token; a pod may override it.',
  },
  Endpoints: { subsets: 'Addresses, grouped by common ports.' },
  EndpointSubset: {
    addresses: 'Ready addresses.',
    notReadyAddresses: 'Addresses that are not ready.',
    ports: 'Ports of all addresses.',
  },
  EndpointAddress: {
    ip: 'IP address; neither loopback nor link-local.',
    hostname: 'Host name of the address.',
    nodeName: 'Node of the address.',
    targetRef: 'Object with this address.',
  },
  EndpointPort: {
    name: 'Name of the port; optional if it is the only one.',
    port: 'Port number.',
    protocol: 'Protocol: TCP (default), UDP or SCTP.',
    appProtocol: 'Application protocol, such as https.',
  },
  ResourceClaim: {
    spec: 'Requested resource; immutable.',
    status: 'State of the allocation, and consumers of the resource.',
  },
  ResourceClaimSpec: {
    resourceClassName: 'ResourceClass, which names the driver.',
    parametersRef: "Reference to the driver's parameters of this claim.",
    allocationMode: 'Time of allocation: Immediate, or WaitForFirstConsumer.',
  },
  ResourceClaimStatus: {
    driverName: 'Driver that allocated the resource.',
    allocation: 'Result of the allocation, set by the driver.',
    reservedFor: 'Consumers of the resource, at most 32, with distinct uids.',
    deallocationRequested: 'Whether the resource is to be deallocated; new reservations are rejected then.',
  },
  AllocationResult: {
    resourceHandle: 'Data by which the driver identifies the resource.',
    availableOnNodes: 'Nodes on which the resource is available; default: all.',
    shareable: 'Whether several consumers may share the resource.',
  },
  ResourceClaimConsumerReference: {
    apiGroup: 'API group of the consumer; empty for the core group.',
    resource: 'Resource of the consumer, such as pods.',
    name: 'Name of the consumer.',
    uid: 'UID of the consumer.',
  },
  ResourceClaimParametersReference: {
    apiGroup: 'API group of the object; empty for the core group.',
    kind: 'Kind of the object.',
    name: 'Name of the object in the namespace of the claim.',
  },
  ResourceClaimTemplate: { spec: 'Metadata and spec of the created claims; immutable.' },
  ResourceClaimTemplateSpec: {
    metadata: 'Labels and annotations of the claims.',
    spec: 'Spec of the claims.',
  },
  ResourceClass: {
    driverName: 'Driver that allocates resources of this class.',
    parametersRef: "Reference to the driver's parameters of all claims of this class.",
    suitableNodes: 'Nodes on which resources of this class are available; default: all.',
  },
  ResourceClassParametersReference: {
    apiGroup: 'API group of the object; empty for the core group.',
    kind: 'Kind of the object.',
    name: 'Name of the object.',
    namespace: 'Namespace of the object; empty for cluster-scoped objects.',
  },
  PodScheduling: {
    spec: 'Nodes that the scheduler considers.',
    status: 'Replies of the drivers.',
  },
  PodSchedulingSpec: {
    selectedNode: 'Node for which the claims of the pod are to be allocated.',
    potentialNodes: 'Nodes that suit the pod otherwise, at most 128.',
  },
  PodSchedulingStatus: { resourceClaims: 'Unsuitable nodes by claim, set by the drivers.' },
  ResourceClaimSchedulingStatus: {
    name: 'Name of the claim in the pod.',
    unsuitableNodes: 'Nodes that are unsuitable for the claim, at most 128.',
  },
  ObjectReference: {
    kind: 'Kind of the object.',
    namespace: 'Namespace of the object.',
    name: 'Name of the object.',
    uid: 'UID of the object.',
    apiVersion: 'API group and version of the object.',
    resourceVersion: 'Resource version of the object, if a specific one is meant.',
    fieldPath: 'Path of the referenced part of the object.',
  },
  LocalObjectReference: { name: 'Name of the object.' },
  NodeSelector: { nodeSelectorTerms: 'Terms; one of them must match.' },
  NodeSelectorTerm: {
    matchExpressions: 'Requirements on labels of the node.',
    matchFields: 'Requirements on fields of the node.',
  },
  NodeSelectorRequirement: {
    key: 'Label or field.',
    operator: 'Operator: In, NotIn, Exists, DoesNotExist, Gt or Lt.',
    values: 'Values for In and NotIn, one number for Gt and Lt, none for the other operators.',
  },
  TokenRequestSpec: {
    audiences: 'Audiences of the token; other audiences must reject it.',
    expirationSeconds: 'Requested lifetime; the server may choose another.',
    boundObjectRef: 'Pod or secret whose deletion invalidates the token.',
  },
  TokenRequestStatus: {
    token: 'Token.',
    expirationTimestamp: 'Time at which the token expires.',
  },
}
