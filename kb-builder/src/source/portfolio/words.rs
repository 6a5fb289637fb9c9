//! The words that stand around what GitHub says, in the language of the project.

/// Words of one language. The titles have those of the other in brackets, so that a question in either language finds
/// them without a model.
pub struct Words {
    /// Titles: the name of the project or the account takes the place of `{}`.
    pub profile: &'static str,
    pub project: &'static str,
    pub tech: &'static str,
    pub story: &'static str,
    /// Between a label and what it is about.
    pub colon: &'static str,
    /// Between the items of a list on one line.
    pub comma: &'static str,
    pub name: &'static str,
    pub account: &'static str,
    pub bio: &'static str,
    pub company: &'static str,
    pub location: &'static str,
    pub website: &'static str,
    pub since: &'static str,
    pub repositories: &'static str,
    pub followers: &'static str,
    pub most_used: &'static str,
    pub best_known: &'static str,
    pub topics: &'static str,
    pub languages: &'static str,
    pub licence: &'static str,
    pub stars: &'static str,
    pub begun: &'static str,
    pub changed: &'static str,
    pub archived: &'static str,
    pub stack: &'static str,
    pub tools: &'static str,
    /// Opens the list of commits.
    pub commits: &'static str,
}

/// English.
pub const EN: Words = Words {
    profile: "{}: profile (个人简介)",
    project: "{}: the project (项目)",
    tech: "{}: tech stack (技术栈)",
    story: "{}: history (项目历程)",
    colon: ": ",
    comma: ", ",
    name: "Name",
    account: "Account on GitHub",
    bio: "About",
    company: "Works at",
    location: "Lives in",
    website: "Website",
    since: "On GitHub since",
    repositories: "Public repositories",
    followers: "Followers",
    most_used: "Languages used most",
    best_known: "Best known projects",
    topics: "Topics",
    languages: "Languages",
    licence: "Licence",
    stars: "Stars",
    begun: "Begun",
    changed: "Last changed",
    archived: "Archived: no longer developed",
    stack: "Tech stack",
    tools: "Tools",
    commits: "How it came about, by its commits, the newest first:",
};

/// Chinese.
pub const ZH: Words = Words {
    profile: "{}：个人简介 (profile)",
    project: "{}：项目 (project)",
    tech: "{}：技术栈 (tech stack)",
    story: "{}：项目历程 (history)",
    colon: "：",
    comma: "、",
    name: "姓名",
    account: "GitHub 账号",
    bio: "简介",
    company: "所在单位",
    location: "所在地",
    website: "网站",
    since: "加入 GitHub 的时间",
    repositories: "公开仓库数",
    followers: "关注者",
    most_used: "最常用的语言",
    best_known: "最知名的项目",
    topics: "主题",
    languages: "编程语言",
    licence: "许可证",
    stars: "星标",
    begun: "开始于",
    changed: "最近更新",
    archived: "已归档，不再开发",
    stack: "技术栈",
    tools: "工具",
    commits: "项目的历程，按提交记录，新的在前：",
};

/// The words for a text.
pub fn of(text: &str) -> &'static Words {
    use kb_core::document::lang::{Lang, detect};
    if detect(text) == Lang::Zh { &ZH } else { &EN }
}
