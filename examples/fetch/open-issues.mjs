// The token is a placeholder: the host puts the secret in when it sends the request, and
// only toward the host that the user has set.
export default async function ({ repository, label }, { settings, signal }) {
  const url = new URL(`/api/v1/repos/${repository}/issues`, await settings.get('server'));
  url.searchParams.set('state', 'open');
  if (label) url.searchParams.set('labels', label);

  const response = await fetch(url, { signal, headers: { Authorization: 'token {{secret:example-fetch.token}}' } });
  if (response.status === 404) throw new Error(`there is no repository ${repository}, or the token may not read it`);
  if (!response.ok) throw new Error(`${url.host} answers ${response.status} ${response.statusText}`);

  const issues = await response.json();
  if (issues.length === 0) return 'no open issues';
  return issues.map(({ number, title }) => `#${number} ${title}`).join('\n');
}
